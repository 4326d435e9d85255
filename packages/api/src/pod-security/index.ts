/** What the Pod Security Standards forbid. Loaded when a namespace asks for it. */
export type { CheckedPod, Violation } from './check.ts'
export { podViolations, violationDetails, violationReasons } from './evaluate.ts'
export { type LevelVersion, levelText, sameLevelVersion } from './level.ts'
export {
  enforcesMore,
  type NamespacePolicy,
  namespacePolicy,
  type PodSecurityPolicy,
  podSecurityPrefix,
} from './policy.ts'
