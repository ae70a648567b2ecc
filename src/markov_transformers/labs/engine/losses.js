// Losses of the score that the model gives to the right answer. Shi and Cao (2025), (2.2).

export class LogLoss {
  constructor(epsilon = 0.1) {
    this.epsilon = epsilon;
  }
  value(score) {
    const shifted = score + this.epsilon;
    return Number.isNaN(shifted) ? NaN : shifted > 0 ? -Math.log(shifted) : Infinity;
  }
  derivative(score) {
    const shifted = score + this.epsilon;
    return shifted > 0 ? -1 / shifted : NaN;
  }
}

export class SquareLoss {
  value(score) {
    return (score - 1) ** 2 / 2;
  }
  derivative(score) {
    return score - 1;
  }
}

export class LogisticLoss {
  value(score) {
    return Math.max(-score, 0) + Math.log1p(Math.exp(-Math.abs(score)));
  }
  derivative(score) {
    return score > 0 ? -Math.exp(-score) / (1 + Math.exp(-score)) : -1 / (1 + Math.exp(score));
  }
}

// At the kink the derivative is taken as zero.
export class HingeLoss {
  value(score) {
    return Math.max(0, 1 - score);
  }
  derivative(score) {
    return score < 1 ? -1 : 0;
  }
}

export class ExponentialLoss {
  value(score) {
    return Math.exp(-score);
  }
  derivative(score) {
    return -Math.exp(-score);
  }
}
