"""A weather tool: an async function that asks a web service with httpx.

Copy this file to ~/.hermes/tools/. It needs no key. WEATHER_URL chooses another server with wttr.in's interface.
"""

import os
from urllib.parse import quote

import httpx

from hermes_tui.tools.registry import registry, tool_error, tool_result

SCHEMA = {
    "name": "get_weather",
    "description": "Tell the weather at a place now and in the next days.",
    "parameters": {
        "type": "object",
        "properties": {
            "place": {"type": "string", "minLength": 1, "description": "City, airport code or 'latitude,longitude'."},
            "days": {"type": "integer", "minimum": 0, "maximum": 3, "description": "Days of forecast (1)."},
        },
        "required": ["place"],
    },
}


async def get_weather(args, **kwargs):
    url = os.environ.get("WEATHER_URL", "https://wttr.in").rstrip("/")
    try:
        # A client per call is safe whichever loop the tool runs on.
        async with httpx.AsyncClient(timeout=20, follow_redirects=True) as client:
            response = await client.get(f"{url}/{quote(args['place'], safe=',')}", params={"format": "j1"})
            response.raise_for_status()
            found = response.json()
    except httpx.HTTPStatusError as error:
        return tool_error(f"The weather service answered {error.response.status_code}; is the place spelled right?")
    except httpx.HTTPError as error:
        return tool_error(f"The weather service cannot be reached: {error or type(error).__name__}")
    except ValueError:
        return tool_error("The weather service answered something that is no JSON; try again later.")
    now = found["current_condition"][0]
    forecast = [
        {"date": day["date"], "min_c": int(day["mintempC"]), "max_c": int(day["maxtempC"])}
        for day in found.get("weather", [])[: args.get("days", 1)]
    ]
    return tool_result(
        place=args["place"],
        now={
            "temperature_c": int(now["temp_C"]),
            "feels_like_c": int(now["FeelsLikeC"]),
            "sky": now["weatherDesc"][0]["value"],
            "wind_kmh": int(now["windspeedKmph"]),
            "humidity_percent": int(now["humidity"]),
        },
        forecast=forecast,
    )


registry.register(
    name="get_weather",
    toolset="weather",
    schema=SCHEMA,
    handler=get_weather,
    is_async=True,
    emoji="🌈",
)
