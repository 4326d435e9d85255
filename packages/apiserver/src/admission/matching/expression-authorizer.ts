import type { Resource } from '@coracle/api'
import type { ExpressionAuthorizer } from '@coracle/api/admission'
import type { Registries } from '../../registries.ts'
import type { Authorizer, RequestAttributes, User } from '../../request.ts'

/** What expressions may ask about the rights of a user, answered by the server's own authorization. */
export function expressionAuthorizer(authorizer: Authorizer, registries: Registries, user: User): ExpressionAuthorizer {
  const refusal = (attributes: RequestAttributes) => authorizer.refuse(user, attributes)
  return {
    decide(question) {
      const why =
        question.kind === 'path'
          ? refusal(question)
          : refusal({ ...question, resource: resourceOf(registries, question.group, question.resource) })
      return { allowed: why === undefined, reason: why ?? '' }
    },
    serviceAccount: (namespace, name) =>
      expressionAuthorizer(authorizer, registries, {
        name: `system:serviceaccount:${namespace}:${name}`,
        groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
      }),
  }
}

/** A resource by its group and name in any version; one that nobody serves may be asked about all the same. */
export function resourceOf(registries: Registries, group: string, plural: string): Resource {
  const served = registries.definitions().find((each) => each.group === group && each.plural === plural)
  return served ?? { group, version: '', kind: '', plural, namespaced: true }
}
