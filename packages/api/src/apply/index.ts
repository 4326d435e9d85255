/** Server-side apply: who owns which fields. */
export { ownedText, sharesFields } from './alike-updates.ts'
export { atomicParts } from './atomic-parts.ts'
export { applyConflict, pathText } from './conflicts.ts'
export { emptyObjectOf } from './empty-object.ts'
export {
  applyRecording,
  beforeFirstApplyManager,
  type JudgedApply,
  keepsLastApplied,
  lastAppliedAnnotation,
  lastAppliedText,
  recordApply,
  recordUpdate,
  sameOwners,
  updateManagersMax,
  updateRecording,
} from './field-manager.ts'
export { elementIn, type FieldSet, fieldElement, noFields, unionOf } from './field-set.ts'
export { interned, internedFieldSetsMax } from './interned-sets.ts'
export {
  fieldSetFrom,
  managedFieldsOf,
  managedFieldsProblem,
  managedFieldsText,
  ownersOf,
  resetsOwners,
  unknownManager,
} from './managed-fields.ts'
export { hasDuplicateElements, mergeApplied } from './merge.ts'
export {
  type FieldOwners,
  isSameManager,
  type Manager,
  type Owned,
  type OwnershipConflict,
  type Versions,
} from './ownership.ts'
export { type Passes, passPartsMax, withRests } from './passes.ts'
export { typedProblems } from './typed-problems.ts'
export { UnidentifiedElementError } from './typed-value.ts'
