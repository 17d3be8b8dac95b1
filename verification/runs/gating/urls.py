"""Below `/p/<project>/`."""

from django.urls import path

from verification.runs.gating import views

GATES = "p/<slug:project>/runs/<uuid:run>/gates/"
GATE = f"{GATES}<uuid:evaluation>/<int:position>/"

urlpatterns = [
    path(f"{GATES}live/", views.run_gates_live, name="run_gates_live"),
    path(f"{GATES}live/<int:gate>/", views.run_gate_live, name="run_gate_live"),
    path(f"{GATE}", views.run_gate, name="run_gate"),
    path(f"{GATE}log/", views.run_gate_log, name="run_gate_log"),
    path(f"{GATE}<str:kept>.txt", views.run_gate_text, name="run_gate_text"),
]
