import type { AdmissionTarget } from './admission.ts'

/** All that is in them is posted, answered and stored nowhere. */
const groupsOfReviews: ReadonlySet<string> = new Set(['authentication.k8s.io', 'authorization.k8s.io'])

/** Whether a request asks who somebody is, or what they may do. */
export const isReview = ({ definition }: Pick<AdmissionTarget, 'definition'>): boolean =>
  groupsOfReviews.has(definition.group)
