"""Who answers: OpenAI-compatible providers, the catalogue, the offline demo model."""
