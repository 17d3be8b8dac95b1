// Durations as people write them: 90s, 15m, 1h30m, 1h30m5s.

const PARTS = /^(?:(?<hours>[0-9]{1,6})h)?(?:(?<minutes>[0-9]{1,6})m)?(?:(?<seconds>[0-9]{1,6})s)?$/;

class DurationError extends Error {
  constructor(text) {
    super(`not a duration: ${JSON.stringify(text)} (write for example 1h30m)`);
    this.name = 'DurationError';
    this.text = text;
  }
}

/** Seconds that a text such as "1h30m" stands for. */
function parseDuration(text) {
  const parts = typeof text === 'string' && text !== '' ? PARTS.exec(text) : null;
  if (!parts) {
    throw new DurationError(text);
  }
  const { hours = '0', minutes = '0', seconds = '0' } = parts.groups;
  // TODO: days, once somebody says how long one is
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}

module.exports = { DurationError, parseDuration };
