"""What the metadata takes from the address of the repository: the project's URLs, and links in the README."""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Addresses(MetadataHookInterface):
    """Package registries show the README by itself, so its links to files must hold the address of the repository."""

    def update(self, metadata: dict) -> None:
        home = self.config["repository"]
        readme = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        tag = f"v{metadata['version']}"
        readme = re.sub(r"!\[([^]]*)\]\((?![a-z]+:)", rf"![\1]({home}/raw/{tag}/", readme)
        readme = re.sub(r"\]\((?![a-z]+:|#)", f"]({home}/blob/{tag}/", readme)
        metadata["readme"] = {"content-type": "text/markdown", "text": readme}
        metadata["urls"] = {
            "Repository": home,
            "Documentation": f"{home}/blob/{tag}/docs/index.md",
            "Issues": f"{home}/issues",
            "Changelog": f"{home}/blob/{tag}/CHANGELOG.md",
        }
