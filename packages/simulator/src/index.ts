/** Virtual clusters under faults: scenarios from seeds, invariants that hold whatever happens, and the smallest scenario that breaks one. */
export { invariantsOfRun } from './invariants/index.ts'
export { describeOperation, type Operation } from './operation.ts'
export { type Assumptions, promptly } from './plan/assumptions.ts'
export { type Availability, availabilityOf, type Sample } from './plan/availability.ts'
export type { ObjectName } from './plan/object-name.ts'
export {
  type PlanReport,
  planReport,
  type ReportedAvailability,
  type ReportedEvent,
  type ReportedProblem,
} from './plan/plan-report.ts'
export { type ChangeOutcome, type Problem, problemsOf } from './plan/problems.ts'
export { Rehearsal, type RehearsalOptions, type Rehearsed } from './plan/rehearsal.ts'
export { type TimelineEvent, type TimelineEventType, timelineOf } from './plan/timeline.ts'
export { type RunLimits, type RunResult, run } from './run.ts'
export { type Scenario, type ScenarioOptions, scenarioOf } from './scenario.ts'
export { shrink } from './shrink.ts'
export type { Change, Invariant, View, Violation } from './view.ts'
