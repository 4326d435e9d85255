import type { ObjectMeta } from '../../meta.ts'

/** Where a definition in one of the community's groups says who has approved it. */
export const approvalAnnotation = 'api-approved.kubernetes.io'

const seeAlso = 'see https://github.com/kubernetes/enhancements/pull/1111'

/** How the approval of a definition in a protected group stands. */
export interface Approval {
  readonly reason: 'MissingAnnotation' | 'InvalidAnnotation' | 'UnapprovedAnnotation' | 'ApprovedAnnotation'
  readonly message: string
}

/** The community's own groups may not be used without its approval. */
export function isProtectedGroup(group: string | undefined): boolean {
  return ['k8s.io', 'kubernetes.io'].some((domain) => group === domain || group?.endsWith(`.${domain}`))
}

/** What the annotation of a definition in a protected group says. */
export function approvalOf({ annotations }: ObjectMeta): Approval {
  const value = annotations?.[approvalAnnotation] ?? ''
  const rule = `protected groups must have approval annotation ${JSON.stringify(approvalAnnotation)}`
  if (value === '') return { reason: 'MissingAnnotation', message: `${rule}, ${seeAlso}` }
  if (value.startsWith('unapproved')) {
    return { reason: 'UnapprovedAnnotation', message: `not approved: ${JSON.stringify(value)}` }
  }
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined || url.host === '') {
    const message = `${rule} with either a URL or a reason starting with "unapproved", ${seeAlso}`
    return { reason: 'InvalidAnnotation', message }
  }
  return { reason: 'ApprovedAnnotation', message: `approved in ${value}` }
}
