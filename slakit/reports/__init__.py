"""What people are shown: figures, charts, the credit memo, the workbook, the terminal."""
