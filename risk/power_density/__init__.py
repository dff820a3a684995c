"""What a hall built for the racks of yesterday can become, beside the cash flow of the deal."""

from risk.power_density.choice import choices
from risk.power_density.fit import racks_that_fit, units_that_fit

__all__ = ["choices", "racks_that_fit", "units_that_fit"]
