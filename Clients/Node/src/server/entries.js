// What the router and the stores know about an entry.

/** Whether a device has proven a key of its record, so that messages can be sealed to it. */
export const isProven = ({ state }) => state.proven?.length > 0

/** Whether Apple's answer to a push means that a token, registered at this time, is not to be used. */
export const isRefusal = ({ outcome, timestamp }, registeredMilliseconds) =>
  outcome === 'refused' || (outcome === 'gone' && registeredMilliseconds <= timestamp)
