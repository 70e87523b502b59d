"""patch: changes in files, by replacing text (mode replace) or by a patch over several files (mode patch)."""

from typing import Any

from hermes_tui.protocol.context import ToolContext
from hermes_tui.tools.edits.diffs import unified_diff
from hermes_tui.tools.edits.document import Document, UnwritableText
from hermes_tui.tools.edits.matching import Strategy
from hermes_tui.tools.edits.replace import EditFailure, replace
from hermes_tui.tools.edits.syntax import new_syntax_error
from hermes_tui.tools.edits.v4a import parse_patch
from hermes_tui.tools.file_access import load, locked, refuse_own_settings, refuse_stale, resolve, store
from hermes_tui.tools.file_transaction import plan_changes
from hermes_tui.tools.file_write import refuse_display_text
from hermes_tui.tools.handlers import Arguments, ToolFailure, text_argument

_MAX_DIFF_CHARS = 20_000


def patch(args: Arguments, context: ToolContext) -> dict[str, Any]:
    """Change files and return the result for the model, with the diff."""
    mode = args.get("mode", "replace")
    if mode == "replace":
        return _replace(args, context)
    if mode == "patch":
        return _patch(args, context)
    raise ToolFailure(f'mode must be "replace" or "patch", not {mode!r}')


def _replace(args: Arguments, context: ToolContext) -> dict[str, Any]:
    path = text_argument(args, "path")
    old, new = text_argument(args, "old_string"), text_argument(args, "new_string")
    real = resolve(context, path)
    refuse_own_settings(context, real)
    with locked(context, [real]):
        before = load(context, path, real)
        refuse_stale(context, path, real, before)
        document = Document.decode(before)
        if new.count("\n") > 1 or len(new) > 1_000:
            refuse_display_text(new, document.text, path)
        try:
            change = replace(document, old, new, replace_all=bool(args.get("replace_all", False)))
        except (EditFailure, UnwritableText) as failure:
            raise ToolFailure(f"{path}: {failure}") from None
        if change.data == before:
            raise ToolFailure(f"{path} already holds this: the edit would change nothing")
        store(context, path, real, change.data)
    new_text = Document.decode(change.data).text
    diff = unified_diff(path, document.text, new_text)
    context.show({"path": real, "diff": diff})
    result: dict[str, Any] = {"success": True, "path": path, "replacements": change.count, "diff": _shortened(diff)}
    if change.strategy is not Strategy.EXACT:
        result["matched_by"] = str(change.strategy)
        result["note"] = "old_string was not exactly in the file; check that the diff is what you meant"
    error_now = new_syntax_error(path, document.text, new_text)
    if error_now:
        result["syntax_error"] = error_now
    return result


def _patch(args: Arguments, context: ToolContext) -> dict[str, Any]:
    try:
        changes = parse_patch(text_argument(args, "patch"))
    except EditFailure as failure:
        raise ToolFailure(f"{failure}. Nothing was changed") from None
    transaction = plan_changes(context, changes)
    with locked(context, transaction.reals):
        transaction.validate()
        transaction.apply()
    diff = transaction.diff()
    context.show({"path": transaction.title(), "diff": diff})
    result: dict[str, Any] = {"success": True, **transaction.report(), "diff": _shortened(diff)}
    errors = transaction.syntax_errors()
    if errors:
        result["syntax_errors"] = errors
    return result


def _shortened(diff: str) -> str:
    if len(diff) <= _MAX_DIFF_CHARS:
        return diff
    kept = diff[:_MAX_DIFF_CHARS].rpartition("\n")[0]
    return f"{kept}\n(the diff goes on: {diff.count(chr(10)) - kept.count(chr(10))} more lines)"
