"""Speed limits: the roofline as a calculator, and the paper's tables beside the reader's point."""
