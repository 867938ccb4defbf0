"""``python -m zephyrus`` is the command ``zephyrus``."""

from zephyrus.cli.main import main

if __name__ == "__main__":
    main()
