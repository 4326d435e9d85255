/** Explains why an object is as it is: what it waits for, what would help, and which changes led to it, and who made them. */
export { type Author, type Change, changeOf } from './change.ts'
export {
  changesMax,
  type ExplainOptions,
  explain,
  type FollowOptions,
  follow,
  followIntervalMs,
  gistOf,
  objectsMax,
  type Subject,
  type WhySource,
} from './explain.ts'
export { type Examined, type Explanation, findingsOf, type Verdict, verdictOf } from './explanation.ts'
export type { Facts, KindRules, Read, Rule } from './facts.ts'
export { type Diagnosis, type Finding, type FindingState, type ObjectReference, shortName } from './finding.ts'
export { rulesOf } from './kinds/index.ts'
export { objectsReadMax } from './surroundings.ts'
