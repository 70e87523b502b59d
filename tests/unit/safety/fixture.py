"""The home and project that the corpus is judged against: what exists decides what is lost."""

from hermes_tui.safety import ListedFacts, Verdict, judge
from hermes_tui.safety.rules import Rules

HOME = "/home/dev"
WORKSPACE = HOME + "/project"

PROJECT_FILES = {
    "README.md": "# demo\n",
    "CHANGELOG.md": "x\n",
    "NOTES.md": "notes\n",
    "CONTRIBUTING.md": "x\n",
    "package.json": '{"name":"demo","scripts":{"build":"true"}}\n',
    "package-lock.json": "{}\n",
    "pyproject.toml": "[project]\nname='demo'\n",
    "requirements.txt": "httpx\n",
    "Makefile": "all:\n\ttrue\n",
    "config.toml": "port=8000\n",
    "config.example.toml": "port=8000\n",
    ".gitignore": "dist\n",
    ".env": "TOKEN=secret\n",
    "app.db": "SQLite\n",
    "app.log.db": "x\n",
    "dev.db": "x\n",
    "customers.csv": "a,b\n1,2\n",
    "customers.csv.gz": "x",
    "data.csv": "a,b\n1,2\n",
    "data.json": "[]\n",
    "data.bin": "x",
    "data.txt": "1 2\n",
    "names.txt": "b\na\n",
    "list.txt": "a\n",
    "notes.txt": "n\n",
    "draft.md": "d\n",
    "secrets.txt": "s\n",
    "secrets.json": "{}",
    "paths.txt": "old\n",
    "to_delete.txt": "old\n",
    "important.sock": "",
    "template": "t\n",
    "empty.txt": "",
    "src/app.py": "print('hi')\n",
    "src/__init__.py": "",
    "src/index.ts": "export {}\n",
    "src/a.css": "",
    "src/b.css": "",
    "src/old_name.py": "x=1\n",
    "src/dead.py": "x=1\n",
    "tests/test_app.py": "def test(): pass\n",
    "tests/fixtures/keep.txt": "k\n",
    "docs/guide.md": "g\n",
    "data/old/x.txt": "x\n",
    "data/prices.csv": "a\n",
    "logs/app.log": "l\n",
    "uploads/u.png": "x",
    "backup/old.py": "x=0\n",
    "old/x": "x",
    "public/index.html": "x",
    "build/app.wasm": "x",
    "scripts/cleanup.sh": "echo ok\n",
    "scripts/unknown.sh": "echo ok\n",
    "k8s/dev.yaml": "kind: Pod\n",
    "lib/a.py": "",
    "fixtures/readme": "x",
    "private/x": "x",
    "dist/bundle.js": "x",
    "node_modules/left/index.js": "x",
    "migrations/001_init.sql": "select 1;\n",
    "schema.sql": "select 1;\n",
    ".git/HEAD": "ref: refs/heads/main\n",
    ".git/config": "[core]\n",
    ".git/refs/heads/main": "0" * 40 + "\n",
    ".git/hooks/pre-commit.sample": "x",
    "src.tgz": "x",
    "release.zip": "x",
    "release.tgz": "x",
    "backup.tgz": "x",
    "key.pub": "ssh-ed25519 AAAA\n",
    "image.iso": "x",
    "disk.img": "x",
    "boot.bin": "x",
    "a.py": "x",
    "b.py": "x",
}
HOME_FILES = {
    ".bashrc": "# rc\n",
    ".zshrc": "# rc\n",
    ".profile": "# rc\n",
    ".bash_profile": "# rc\n",
    ".bash_history": "ls\n",
    ".netrc": "x\n",
    ".npmrc": "x\n",
    ".ssh/id_ed25519": "KEY\n",
    ".ssh/id_rsa": "KEY\n",
    ".ssh/config": "Host *\n",
    ".ssh/authorized_keys": "x\n",
    ".ssh/known_hosts": "x\n",
    ".aws/credentials": "x\n",
    ".kube/config": "x\n",
    ".docker/config.json": "{}",
    ".git-credentials": "x\n",
    ".gitconfig": "[user]\n",
    ".config/gh/hosts.yml": "x\n",
    ".hermes/config.yaml": "approvals: {}\n",
    ".config/hermes-tui/config.toml": "x=1\n",
    "important.json": "{}",
    "Documents/thesis/ch1.txt": "x",
    "Downloads/a.iso": "x",
    "work/x": "x",
    "other/src/x": "x",
    "other/main.c": "x",
    "other-project/main.py": "x",
    "sibling-project/x": "x",
}


def facts() -> ListedFacts:
    """Return the fixture's files as facts, its link to the home folder included."""
    texts = {f"{WORKSPACE}/{name}": text for name, text in PROJECT_FILES.items()}
    texts |= {f"{HOME}/{name}": text for name, text in HOME_FILES.items()}
    folders = (f"{WORKSPACE}/emptydir", f"{WORKSPACE}/empty", "/etc", "/usr/bin", "/tmp")
    return ListedFacts(texts, folders=folders, links={f"{WORKSPACE}/link-to-home": HOME}, texts=texts)


_FACTS = facts()


def verdict(command: str, *, preset: str = "balanced", mode: str = "manual", rules: Rules | None = None) -> Verdict:
    """Judge a command in the fixture's project."""
    return judge(
        command, cwd=WORKSPACE, home=HOME, workspace=WORKSPACE, facts=_FACTS, preset=preset, mode=mode, rules=rules
    )
