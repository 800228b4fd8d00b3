import subprocess
import sys


def test_importing_tables_loads_neither_torch_nor_a_data_frame_library() -> None:
    code = (
        "import sys, featuremask.tables; "
        "print([m for m in ('torch', 'pandas', 'polars', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
