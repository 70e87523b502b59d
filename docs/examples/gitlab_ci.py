"""Continuous integration: three tools that start a GitLab pipeline, follow it, and read its logs.

A build outlasts a call. So ``ci_trigger`` returns an id at once, ``ci_status`` may wait a while, and ``ci_log`` reads
what has been written so far. Copy this file to ~/.hermes/tools/ and put into ~/.hermes/.env:

    GITLAB_TOKEN=glpat-...
    GITLAB_PROJECT=group/project
    GITLAB_URL=https://gitlab.example.com     (where it is not gitlab.com)
"""

import os
import time
from urllib.parse import quote

import httpx

from hermes_tui.tools.registry import registry, tool_error, tool_result

NEEDED = ["GITLAB_TOKEN", "GITLAB_PROJECT"]
ENDED = {"success", "failed", "canceled", "skipped", "manual"}
LONGEST_WAIT_S = 120
POLL_S = float(os.environ.get("GITLAB_POLL_S", "5"))

ID = {"type": "integer", "description": "Id of the pipeline, from ci_trigger."}


def ask(method, path, **kwargs):
    """Return GitLab's answer. Raises httpx.HTTPError."""
    url = os.environ.get("GITLAB_URL", "https://gitlab.com").rstrip("/")
    project = quote(os.environ["GITLAB_PROJECT"], safe="")
    response = httpx.request(
        method,
        f"{url}/api/v4/projects/{project}{path}",
        headers={"PRIVATE-TOKEN": os.environ["GITLAB_TOKEN"]},
        timeout=30,
        **kwargs,
    )
    response.raise_for_status()
    return response


def said_well(handler):
    """Turn what goes wrong on the way to GitLab into a result that the model can act on."""

    def wrapped(args, context=None, **kwargs):
        try:
            return handler(args, context)
        except httpx.HTTPStatusError as error:
            return tool_error(f"GitLab answered {error.response.status_code}", answer=error.response.text[:500])
        except httpx.HTTPError as error:
            return tool_error(f"GitLab cannot be reached: {error}")

    return wrapped


@said_well
def ci_trigger(args, context):
    variables = [{"key": key, "value": value} for key, value in args.get("variables", {}).items()]
    pipeline = ask("POST", "/pipeline", json={"ref": args["ref"], "variables": variables}).json()
    return tool_result(
        pipeline_id=pipeline["id"],
        status=pipeline["status"],
        url=pipeline.get("web_url"),
        hint="It runs on its own. Do something else, then ask with ci_status.",
    )


@said_well
def ci_status(args, context):
    until = time.monotonic() + args.get("wait", 0)
    while True:
        pipeline = ask("GET", f"/pipelines/{args['pipeline_id']}").json()
        jobs = ask("GET", f"/pipelines/{args['pipeline_id']}/jobs").json()
        ended = sum(job["status"] in ENDED for job in jobs)
        left = until - time.monotonic()
        if pipeline["status"] in ENDED or left <= 0:
            break
        if context:
            context.progress(f"{pipeline['status']}, {ended} of {len(jobs)} jobs", ended / len(jobs) if jobs else None)
            if context.cancel.wait(min(POLL_S, left)):  # a sleep that Esc ends
                break
        else:
            time.sleep(min(POLL_S, left))
    return tool_result(
        pipeline_id=pipeline["id"],
        status=pipeline["status"],
        ended=pipeline["status"] in ENDED,
        jobs=[{"id": job["id"], "name": job["name"], "stage": job["stage"], "status": job["status"]} for job in jobs],
    )


@said_well
def ci_log(args, context):
    jobs = ask("GET", f"/pipelines/{args['pipeline_id']}/jobs").json()
    job = next((job for job in jobs if job["name"] == args["job"]), None)
    if job is None:
        return tool_error(f"There is no job {args['job']!r}", jobs=[job["name"] for job in jobs])
    lines = ask("GET", f"/jobs/{job['id']}/trace").text.splitlines()
    tail = args.get("lines", 200)
    return tool_result(job=job["name"], status=job["status"], total_lines=len(lines), log="\n".join(lines[-tail:]))


TOOLS = {
    "ci_trigger": (
        ci_trigger,
        "Start a pipeline of the project and return its id at once.",
        {
            "ref": {"type": "string", "description": "Branch or tag."},
            "variables": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "description": "Variables of the pipeline.",
            },
        },
        ["ref"],
    ),
    "ci_status": (
        ci_status,
        "Tell how a pipeline and its jobs stand; may wait for its end.",
        {
            "pipeline_id": ID,
            "wait": {
                "type": "integer",
                "minimum": 0,
                "maximum": LONGEST_WAIT_S,
                "description": "Longest seconds to wait for the end (0).",
            },
        },
        ["pipeline_id"],
    ),
    "ci_log": (
        ci_log,
        "Read the end of a job's log, also while the job runs.",
        {
            "pipeline_id": ID,
            "job": {"type": "string", "description": "Name of the job, as ci_status lists it."},
            "lines": {"type": "integer", "minimum": 1, "maximum": 5000, "description": "Last lines (200)."},
        },
        ["pipeline_id", "job"],
    ),
}

for name, (handler, description, properties, required) in TOOLS.items():
    registry.register(
        name=name,
        toolset="ci",
        schema={
            "name": name,
            "description": description,
            "parameters": {"type": "object", "properties": properties, "required": required},
        },
        handler=handler,
        requires_env=NEEDED,
        emoji="🚦",
    )
