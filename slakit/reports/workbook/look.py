"""How the workbook looks: fonts, fills and number formats by meaning."""

from __future__ import annotations

from openpyxl.styles import Alignment, Border, Font, PatternFill, Side

FONT = "Calibri"
TEXT, MUTED, RULE, ACCENT, BAD = "16202A", "51606E", "D5DADF", "0B4F79", "A8261C"
INPUT, INPUT_PAPER = "1F3FBF", "FFF9E3"
MODEL, MODEL_PAPER = "6A4C93", "F3EFF8"
HEAD_PAPER, CHANGED_PAPER, BAD_PAPER, GOOD = "EAF2F7", "FBE3B6", "FCEDEB", "1D6B45"

MONEY = '#,##0_);(#,##0);"–"_)'
CENTS = '#,##0.00##_);(#,##0.00##);"–"_)'
RENT = '#,##0.0000_);(#,##0.0000);"–"_)'
COVER = '0.00"x"'
PERCENT = '0.00%_);(0.00%);"–"_)'
SHARE = '0.000_);(0.000);"–"_)'
COUNT = '#,##0_);(#,##0);"–"_)'
MONTHS = "0.00"
WHOLE = "0"
DATE = "yyyy-mm-dd"
MONTH_LABEL = "mmm yyyy"
MARK = '0;-0;"–"'
GENERAL = "General"
TINY = '0.0E+00;-0.0E+00;"–"'


def font(*, colour: str = TEXT, bold: bool = False, italic: bool = False, size: float = 10) -> Font:
    """Return the one typeface of the workbook in a size and colour."""
    return Font(name=FONT, size=size, bold=bold, italic=italic, color=f"FF{colour}")


def fill(colour: str) -> PatternFill:
    """Return a plain ground."""
    return PatternFill("solid", start_color=f"FF{colour}", end_color=f"FF{colour}")


PLAIN = font()
BOLD = font(bold=True)
SMALL = font(colour=MUTED, size=9)
TITLE = font(colour=ACCENT, bold=True, size=16)
SUBTITLE = font(colour=MUTED, size=10)
HEAD = font(colour=ACCENT, bold=True)
SECTION = font(colour=ACCENT, bold=True, size=11)
INPUT_FONT = font(colour=INPUT)
MODEL_FONT = font(colour=MODEL, italic=True)
HEAD_FILL, INPUT_FILL, MODEL_FILL = fill(HEAD_PAPER), fill(INPUT_PAPER), fill(MODEL_PAPER)
CHANGED_FILL, BAD_FILL = fill(CHANGED_PAPER), fill(BAD_PAPER)

_HAIR, _LINE = Side(style="hair", color=f"FF{RULE}"), Side(style="thin", color=f"FF{ACCENT}")
UNDER = Border(bottom=_HAIR)
UNDER_HEAD = Border(bottom=_LINE)
ABOVE_TOTAL = Border(top=_LINE, bottom=_LINE)

LEFT = Alignment(horizontal="left", vertical="center")
RIGHT = Alignment(horizontal="right", vertical="center")
BESIDE = Alignment(horizontal="left", vertical="center", indent=1)
HEAD_RIGHT = Alignment(horizontal="right", vertical="bottom", wrap_text=True)
HEAD_BESIDE = Alignment(horizontal="left", vertical="bottom", wrap_text=True, indent=1)
HEAD_LEFT = Alignment(horizontal="left", vertical="bottom", wrap_text=True)
WRAPPED = Alignment(horizontal="left", vertical="center", wrap_text=True)
PARAGRAPH = Alignment(horizontal="left", vertical="top", wrap_text=True)
