/** The checks of flow control, to be loaded with its first object: `flow-checks.ts`. */
export { validateFlowSchema, validateFlowSchemaStatus } from './flow-schema-validation.ts'
export { validatePriorityLevel, validatePriorityLevelStatus } from './priority-level-validation.ts'
