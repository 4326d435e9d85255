import { ApiError, forbidden } from '@coracle/api'
import type { Authorizer, RequestAttributes, User } from '../request.ts'

/** Throws Forbidden, with upstream's words, where an authorizer does not allow what somebody wants. */
export function authorize(authorizer: Authorizer, user: User, attributes: RequestAttributes): void {
  const why = authorizer.refuse(user, attributes)
  if (why !== undefined) throw refusalOf(user, attributes, why)
}

/** Forbidden, with upstream's words. `why` may be empty. */
export function refusalOf(user: User, attributes: RequestAttributes, why: string): ApiError {
  const because = why === '' ? '' : `: ${why}`
  if (attributes.kind === 'path') {
    const refusal = `User ${quote(user.name)} cannot ${attributes.verb} path ${quote(attributes.path)}${because}`
    return new ApiError(403, 'Forbidden', `forbidden: ${refusal}`, {})
  }
  const { resource, subresource, namespace, name, verb } = attributes
  const what = subresource === '' ? resource.plural : `${resource.plural}/${subresource}`
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${quote(namespace)}`
  const refusal = `User ${quote(user.name)} cannot ${verb} resource ${quote(what)} in API group ${quote(resource.group)} ${where}`
  return forbidden(resource, name, refusal + because)
}

const quote = (text: string): string => JSON.stringify(text)
