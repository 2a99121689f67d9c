"""The double behaves as Google Cloud does, over HTTP and to Google's own client."""

import google.auth
from google.auth.transport.requests import Request


def test_google_auth_finds_the_project_and_a_token_of_the_metadata_server(double) -> None:
    credentials, project = google.auth.default(scopes=["https://www.googleapis.com/auth/compute"])
    credentials.refresh(Request())

    assert project == "double"
    assert credentials.token == double.secret
