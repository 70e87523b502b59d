"""Redaction of real formats. Every value here is made up; only the shapes are those of the issuers."""

import time

import pytest

from hermes_tui.safety.redact import MARK, Redactor, redact, secrets_of_environment

# Put together at run time, so that no scanner takes this file for a leak.
_X = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY"
_HEX = "0123456789abcdef" * 4

SECRETS = {
    "openai": "sk-" + "proj-" + _X + _X,
    "openai, old": "sk-" + _X + "1234567890",
    "anthropic": "sk-ant-" + "api03-" + _X + _X,
    "openrouter": "sk-or-v1-" + _HEX,
    "github": "ghp_" + _X + "1234",
    "github, fine": "github_pat_" + _X + "_" + _X,
    "gitlab": "glpat-" + _X[:20],
    "slack bot": "xoxb-" + "123456789012-" + _X[:24],
    "slack app": "xapp-1-" + _X,
    "aws id": "AKIA" + "ABCDEFGHIJKLMNOP",
    "google": "AIza" + _X + "abc",
    "google oauth": "ya29." + _X,
    "stripe": "sk_live_" + _X[:24],
    "hugging face": "hf_" + _X,
    "npm": "npm_" + _X + "1234",
    "pypi": "pypi-AgE" + _X + _X,
    "docker": "dckr_pat_" + _X,
    "digitalocean": "dop_v1_" + _HEX,
    "sendgrid": "SG." + _X[:22] + "." + _X + "12345",
    "shopify": "shpat_" + _HEX[:32],
    "atlassian": "ATATT3" + _X + _X,
    "linear": "lin_api_" + _X,
    "databricks": "dapi" + _HEX[:32],
    "figma": "figd_" + _X,
    "vault": "hvs." + _X,
    "grafana": "glsa_" + _X + "_" + _HEX[:8],
    "replicate": "r8_" + _X,
    "groq": "gsk_" + _X + _X,
    "tavily": "tvly-" + _X,
    "telegram": "123456789:AA" + _X + "a",
    "jwt": "eyJ" + _X + ".eyJ" + _X + "." + _X,
    "age": "AGE-SECRET-KEY-1" + "ABCDEFGHJKLMNPQRSTUVWXYZ234567" * 2,
    "nvidia": "nvapi-" + _X + _X,
    "pulumi": "pul-" + _HEX[:40],
}


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize(
    "frame", ["{}", "key is {} ok", '{{"k": "{}"}}', "X={}\n", "https://x.test/?t={}&b=1", "curl -H 'X: {}'"]
)
def test_a_key_of_a_known_format_is_gone(name: str, frame: str) -> None:
    secret = SECRETS[name]
    cleaned = redact(frame.format(secret))
    assert secret not in cleaned
    assert secret[-12:] not in cleaned
    assert MARK in cleaned


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password=hunter2hunter2", "hunter2hunter2"),
        ('"password": "correct-horse"', "correct-horse"),
        ("DB_PASSWORD: s3cr3t-value!", "s3cr3t-value!"),
        ("export API_KEY='abcdef123456'", "abcdef123456"),
        ("AWS_SECRET_ACCESS_KEY=" + "wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY", "bPxRfiCY"),
        ("client_secret: 8a7b6c5d4e3f", "8a7b6c5d4e3f"),
        ("Authorization: Bearer abcdef.ghijkl.mnopqr", "abcdef.ghijkl.mnopqr"),
        ("authorization: Basic dXNlcjpwYXNzd29yZA==", "dXNlcjpwYXNzd29yZA"),
        ("curl -u admin:letmein99 https://x.test", "letmein99"),
        ("postgres://app:s3cretpw@db.example.com/app", "s3cretpw"),
        ("https://user:tok3n-value@github.com/a/b.git", "tok3n-value"),
        ("redis://:longpassword@localhost:6379", "longpassword"),
        ("Set-Cookie: session=abcdef0123456789; HttpOnly", "abcdef0123456789"),
        ("https://hooks.slack.com/services/T000/B000/" + _X, _X),
        ("AccountKey=" + _X + _X + "==;EndpointSuffix=x", _X),
        ("GITHUB_TOKEN=plain-looking-value\n", "plain-looking-value"),
        ('  STRIPE_SECRET="quoted value here"\n', "quoted value here"),
    ],
)
def test_a_value_that_its_name_gives_away_is_gone(text: str, secret: str) -> None:
    assert secret not in redact(text)


def test_a_private_key_is_gone_with_its_end_or_without() -> None:
    body = "\n".join([_X * 2] * 10)
    for end in ("\n-----END OPENSSH PRIVATE KEY-----\nafter", ""):
        cleaned = redact(f"before\n-----BEGIN OPENSSH PRIVATE KEY-----\n{body}{end}")
        assert _X not in cleaned
        assert cleaned.startswith("before")
    assert "after" in redact(f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\nafter")


@pytest.mark.parametrize(
    "text",
    [
        "the password is required",
        "def check(password: str) -> bool:",
        "password = os.environ['DB_PASSWORD']",
        'token = request.headers.get("X")',
        "api_key=your-api-key",
        "API_KEY=$OPENAI_API_KEY",
        "secret: null",
        "commit 0123456789abcdef0123456789abcdef01234567",
        "sha256:" + _HEX,
        "550e8400-e29b-41d4-a716-446655440000",
        "https://example.com/a/b?c=d",
        "max_tokens=4096",
        "tokens: 1200",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 dev@host",
        "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----",
        "git@github.com:acme/widgets.git",
        "skip-this-step and risk-assessment",
        "npm_config_registry",
        "Authorization: $TOKEN",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redact(text) == text


def test_text_without_a_hint_is_the_same_object() -> None:
    text = "nothing to see here\n" * 50
    assert redact(text) is text


def test_known_values_go_even_when_the_switch_is_off() -> None:
    redactor = Redactor(["hunter22", "hunter22-longer", "ab"], enabled=False)
    assert redactor("x hunter22-longer hunter22 ab") == f"x {MARK} {MARK} ab"
    assert redactor("sk-" + _X + _X) == "sk-" + _X + _X
    assert "hunter" not in repr(redactor)


def test_secrets_of_the_environment_are_found_by_name() -> None:
    found = secrets_of_environment(
        [
            ("OPENAI_API_KEY", "value-one"),
            ("PATH", "/usr/bin"),
            ("PWD", "/home/dev"),
            ("DB_PASSWORD", "value-two"),
            ("X_TOKEN", "abc"),
        ]
    )
    assert found == ["value-one", "value-two"]


@pytest.mark.parametrize(
    "text",
    [
        "token=" * 20_000,
        "eyJ" * 40_000,
        "a.b:" * 30_000,
        "https://" * 15_000,
        "-----BEGIN PRIVATE KEY-----" * 4000,
        "x" * 200_000 + "secret",
    ],
)
def test_no_text_makes_it_slow(text: str) -> None:
    started = time.thread_time()
    redact(text)
    assert time.thread_time() - started < 1.0
