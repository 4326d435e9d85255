/** Questions about what a user may do (Kubernetes' authorizer library). Expressions ask them step by step. */
import { checkFormat } from '../../string-formats.ts'
import { CelError } from '../errors.ts'
import { authorizationCost, type CallCost, overload, selectorCost } from '../functions.ts'
import { Opaque } from '../values.ts'

/** What somebody wants to do: to an object of the API, or with a path that is none. */
export type AuthorizationQuestion =
  | {
      readonly kind: 'resource'
      readonly verb: string
      readonly group: string
      readonly resource: string
      readonly subresource: string
      readonly namespace: string
      readonly name: string
      /** Which objects of a collection, as a query has it. It may not be readable: then it narrows nothing. */
      readonly fieldSelector?: string
    }
  | { readonly kind: 'path'; readonly verb: string; readonly path: string }

export interface AuthorizationDecision {
  readonly allowed: boolean
  readonly reason: string
}

/** Answers questions about a user, or about a service account. */
export interface ExpressionAuthorizer {
  decide(question: AuthorizationQuestion): AuthorizationDecision
  /** The same for a service account. */
  serviceAccount(namespace: string, name: string): ExpressionAuthorizer
}

type ResourceQuestion = Omit<Extract<AuthorizationQuestion, { kind: 'resource' }>, 'kind' | 'verb'>

interface ResourceCheck extends ResourceQuestion {
  readonly authorizer: ExpressionAuthorizer
}

const types = {
  authorizer: 'kubernetes.authorization.Authorizer',
  path: 'kubernetes.authorization.PathCheck',
  group: 'kubernetes.authorization.GroupCheck',
  resource: 'kubernetes.authorization.ResourceCheck',
  decision: 'kubernetes.authorization.Decision',
} as const

/** The names of the types of `authorizer` and `authorizer.requestResource`. */
export const { authorizer: authorizerTypeName, resource: resourceCheckTypeName } = types

type Group = Opaque<{ readonly authorizer: ExpressionAuthorizer; readonly group: string }>
type Path = Opaque<{ readonly authorizer: ExpressionAuthorizer; readonly path: string }>
type Resource = Opaque<ResourceCheck>
type Decision = Opaque<AuthorizationDecision>

/** The value of the variable `authorizer`. */
export function authorizerValue(authorizer: ExpressionAuthorizer): Opaque<ExpressionAuthorizer> {
  return new Opaque(types.authorizer, authorizer, 'authorizer')
}

/** The value of the variable `authorizer.requestResource`. */
export function resourceCheckValue(authorizer: ExpressionAuthorizer, question: ResourceQuestion): Resource {
  return new Opaque(types.resource, { ...question, authorizer }, JSON.stringify(question))
}

function narrowed({ value }: Resource, change: Partial<ResourceQuestion>): Resource {
  const { authorizer, ...question } = value
  return resourceCheckValue(authorizer, { ...question, ...change })
}

const decisionValue = (decision: AuthorizationDecision): Decision =>
  new Opaque(types.decision, decision, JSON.stringify(decision))

/** Throws a CelError where there is nothing but blanks. */
function required(what: string, text: string): string {
  if (text.trim() === '') throw new CelError(`${what} must not be empty`)
  return text
}

function accountOf(authorizer: ExpressionAuthorizer, namespace: string, name: string): ExpressionAuthorizer {
  if (checkFormat('dns1123-subdomain', name).length > 0) throw new CelError('Invalid service account name')
  if (checkFormat('dns1123-label', namespace).length > 0) throw new CelError('Invalid service account namespace')
  return authorizer.serviceAccount(namespace, name)
}

const everywhere = { subresource: '', namespace: '', name: '' }

const checkCost: CallCost = () => authorizationCost
const selectingCost: CallCost = ([, size = 0]) => selectorCost(size)

export const authorizers = [
  overload(
    `${types.authorizer}.path(string): ${types.path}`,
    ({ value }: Opaque<ExpressionAuthorizer>, path: string) =>
      new Opaque(types.path, { authorizer: value, path: required('path', path) }, path),
  ),
  overload(
    `${types.authorizer}.group(string): ${types.group}`,
    ({ value }: Opaque<ExpressionAuthorizer>, group: string) =>
      new Opaque(types.group, { authorizer: value, group }, group),
  ),
  overload(
    `${types.authorizer}.serviceAccount(string, string): ${types.authorizer}`,
    ({ value }: Opaque<ExpressionAuthorizer>, namespace: string, name: string) =>
      authorizerValue(accountOf(value, namespace, name)),
  ),
  overload(`${types.group}.resource(string): ${types.resource}`, ({ value }: Group, resource: string) =>
    resourceCheckValue(value.authorizer, {
      group: value.group,
      resource: required('resource', resource),
      ...everywhere,
    }),
  ),
  overload(`${types.resource}.subresource(string): ${types.resource}`, (check: Resource, subresource: string) =>
    narrowed(check, { subresource }),
  ),
  overload(`${types.resource}.namespace(string): ${types.resource}`, (check: Resource, namespace: string) =>
    narrowed(check, { namespace }),
  ),
  overload(`${types.resource}.name(string): ${types.resource}`, (check: Resource, name: string) =>
    narrowed(check, { name }),
  ),
  overload(
    `${types.resource}.fieldSelector(string): ${types.resource}`,
    (check: Resource, fieldSelector: string) => narrowed(check, { fieldSelector }),
    selectingCost,
  ),
  // No authorizer of this server looks at labels.
  overload(`${types.resource}.labelSelector(string): ${types.resource}`, (check: Resource) => check, selectingCost),
  overload(
    `${types.resource}.check(string): ${types.decision}`,
    ({ value: { authorizer, ...question } }: Resource, verb: string) =>
      decisionValue(authorizer.decide({ kind: 'resource', verb, ...question })),
    checkCost,
  ),
  overload(
    `${types.path}.check(string): ${types.decision}`,
    ({ value: { authorizer, path } }: Path, verb: string) =>
      decisionValue(authorizer.decide({ kind: 'path', verb, path })),
    checkCost,
  ),
  overload(`${types.decision}.allowed(): bool`, ({ value }: Decision) => value.allowed),
  overload(`${types.decision}.reason(): string`, ({ value }: Decision) => value.reason),
  // Authorization in this server always has an answer.
  overload(`${types.decision}.errored(): bool`, () => false),
  overload(`${types.decision}.error(): string`, () => ''),
]
