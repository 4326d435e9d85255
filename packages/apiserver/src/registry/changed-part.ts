import type { KubernetesObject, OwnershipConflict } from '@coracle/api'
import type { AdmittedKind } from '../admission/admission.ts'

/** What of an object a write is about, and how that looks to whoever writes. */
export interface ChangedPart {
  /** As in the path; '' is the object itself. */
  readonly subresource: string
  /** Which of the kind's rules prepare and check the change; `own`: none of them, the subresource has its own. */
  readonly rules: 'main' | 'status' | 'own'
  /** With rules of its own: the change is one of the desired state, and makes a new generation. */
  readonly makesGenerations?: true
  /** Absent: the write is of the whole object. */
  readonly view?: ObjectView
  /** The write follows from something posted to the subresource, which admission has seen in its place. */
  readonly isAdmitted?: true
}

/** An object, in the hub's form, as a subresource shows it. Admission sees the object in this form, and so does whoever writes. */
export interface ObjectView {
  readonly kind: AdmittedKind
  of(object: KubernetesObject): KubernetesObject | Promise<KubernetesObject>
  /** The object with what was written through the view. Throws where that is not valid. Pure. */
  apply(object: KubernetesObject, written: KubernetesObject): KubernetesObject | Promise<KubernetesObject>
  /** The same before admission, which may make it valid: whose its fields are follows from it. As `apply` where there is none. Pure. */
  beforeAdmission?(object: KubernetesObject, written: KubernetesObject): KubernetesObject
  /** A conflict about fields of the object as whoever applies is told of it: of the object where there is none. */
  conflictOf?(conflict: OwnershipConflict): OwnershipConflict
}

export const mainPart: ChangedPart = { subresource: '', rules: 'main' }
export const statusPart: ChangedPart = { subresource: 'status', rules: 'status' }
