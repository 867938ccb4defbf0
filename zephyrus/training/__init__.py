"""Training a policy: rejection-sampled fine-tuning and RL, on TRL; the extra ``train`` brings it."""
