"""Language models in this process, on a CPU or one GPU: the extra ``local`` brings what it needs."""
