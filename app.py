"""The app in the browser: `make app`, or `streamlit run app.py`."""

from slakit.ui.page import show

show()
