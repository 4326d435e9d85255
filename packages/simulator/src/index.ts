/** Virtual clusters under faults: scenarios from seeds, invariants that hold whatever happens, and the smallest scenario that breaks one. */
export { invariantsOfRun } from './invariants/index.ts'
export { describeOperation, type Operation } from './operation.ts'
export { type RunLimits, type RunResult, run } from './run.ts'
export { type Scenario, type ScenarioOptions, scenarioOf } from './scenario.ts'
export { shrink } from './shrink.ts'
export type { Change, Invariant, View, Violation } from './view.ts'
