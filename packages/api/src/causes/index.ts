/** The causal record: why objects are as they are. */
export * from './cause.ts'
export * from './chain.ts'
export * from './claim.ts'
export * from './status-change.ts'
