"""Shadow: what we would have done beside what another autoscaler did. Pure; told what is seen, loop by loop."""
