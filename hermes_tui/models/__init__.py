"""Who answers: OpenAI-compatible providers, the catalogue of them, and the offline demo model."""
