"""Write the custom_generate/ of the bundled model folder from the engine's source.

Run it after a change to a module that decoding needs: python -m scripts.write_custom_generate
"""

from sbd_core.hf import write_custom_generate
from sbd_core.models.checkpoint_info import DEFAULT_CHECKPOINT

if __name__ == "__main__":
    print(f"wrote {write_custom_generate(DEFAULT_CHECKPOINT)}")
