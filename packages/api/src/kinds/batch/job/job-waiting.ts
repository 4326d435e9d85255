/** The condition of a Job that waits for others, or has done so. Its message says for which. */
export const waitingCondition = 'coracle.dev/Waiting'
