/** Server-side apply: who owns which fields. */
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
export { fieldsText, interned, internedFieldSetsMax, isShared } from './interned-sets.ts'
export {
  fieldSetFrom,
  managedFieldsOf,
  managedFieldsProblem,
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
