"""Make a sealed plan of a fabric, derive it again, and its procedures at a console."""
