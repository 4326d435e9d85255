/** Whose a token is, by its claims: what upstream's OIDC authenticator makes of them. Pure. */
import { celValueOf } from '../cel/json-values.ts'
import type { CelProgram } from '../cel/program.ts'
import { CelList, type CelValue } from '../cel/values.ts'
import { type JsonObject, member } from '../json.ts'

/** What an expression over claims may cost, in CEL's units: what upstream gives conditions of webhooks. */
const expressionCostMax = 2_500_000

/** Who somebody is by their token. */
export interface ClaimedUser {
  readonly name: string
  readonly groups: readonly string[]
  readonly uid?: string
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** An expression that has to be true, and what is said where it is not. */
export interface CompiledRule {
  readonly expression: string
  readonly message: string
  readonly program: CelProgram
}

/** Where a text comes from: nowhere, from a claim, or from an expression. */
export type TextSource =
  | undefined
  | { readonly claim: string; readonly prefix: string }
  | { readonly program: CelProgram }

/** What is done with the claims of an issuer's tokens. */
export interface ClaimRules {
  readonly username: TextSource
  readonly groups: TextSource
  readonly uid: TextSource
  readonly extra: readonly { readonly key: string; readonly program: CelProgram }[]
  /** What claims have to be, by their names. */
  readonly required: ReadonlyMap<string, string>
  readonly claimRules: readonly CompiledRule[]
  readonly userRules: readonly CompiledRule[]
}

/** Why claims are not good. */
class Refused extends Error {}

/** The user that the claims of a verified token are about; a text that says why there is none. */
export function userOfClaims(claims: JsonObject, rules: ClaimRules): ClaimedUser | string {
  const variables = new Map([['claims', celValueOf(claims)]])
  try {
    const name = username(claims, variables, rules.username)
    const groups = groupsOf(claims, variables, rules.groups)
    const uid = rules.uid === undefined ? '' : textFrom('uid', claims, variables, rules.uid)
    const extra = extraOf(variables, rules.extra)
    for (const [claim, value] of rules.required) checkRequired(claims, claim, value)
    for (const rule of rules.claimRules) checkRule('claim validation', rule, variables)
    const user: ClaimedUser = {
      name,
      groups,
      ...(uid === '' ? {} : { uid }),
      ...(extra === undefined ? {} : { extra }),
    }
    if (rules.userRules.length > 0) {
      const known = celValueOf({ username: name, uid, groups, extra: extra ?? {} })
      for (const rule of rules.userRules) checkRule('user validation', rule, new Map([['user', known]]))
    }
    return user
  } catch (error) {
    if (error instanceof Refused) return error.message
    throw error
  }
}

type Variables = ReadonlyMap<string, CelValue>

function username(claims: JsonObject, variables: Variables, source: TextSource): string {
  const name = textFrom('username', claims, variables, source)
  if (source !== undefined && 'claim' in source && source.claim === 'email') {
    const verified = member(claims, 'email_verified')
    if (verified !== undefined && verified !== true) throw new Refused('email not verified')
  }
  // Nobody may be called by a prefix alone: the same user would be everybody without a name.
  if (name === '') throw new Refused('the user name is empty')
  return name
}

/** Of a claim that has to be there, or of an expression. */
function textFrom(what: string, claims: JsonObject, variables: Variables, source: TextSource): string {
  if (source === undefined) return ''
  if ('program' in source) {
    const value = evaluated(`${what} claim expression`, source.program, variables)
    if (typeof value !== 'string') throw new Refused(`${what} claim expression must return a string`)
    return value
  }
  const value = member(claims, source.claim)
  if (typeof value === 'string') return value === '' ? '' : source.prefix + value
  const why = value === undefined ? 'claim not present' : 'must be a string'
  throw new Refused(`parse ${what} claim ${JSON.stringify(source.claim)}: ${why}`)
}

function groupsOf(claims: JsonObject, variables: Variables, source: TextSource): readonly string[] {
  if (source === undefined) return []
  if ('program' in source) return textsOf('groups claim expression', source.program, variables)
  const { claim, prefix } = source
  const value = member(claims, claim)
  if (value === undefined || value === null) return []
  const groups: readonly unknown[] = Array.isArray(value) ? value : [value]
  return groups.map((group) => {
    if (typeof group === 'string') return prefix + group
    throw new Refused(`parse groups claim ${JSON.stringify(claim)}: must be a string or a list of strings`)
  })
}

function extraOf(
  variables: Variables,
  extra: ClaimRules['extra'],
): Readonly<Record<string, readonly string[]>> | undefined {
  const entries = extra
    .map(({ key, program }) => [key, textsOf(`extra ${key}`, program, variables)] as const)
    .filter(([, values]) => values.length > 0)
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

function checkRequired(claims: JsonObject, claim: string, wanted: string): void {
  const value = member(claims, claim)
  if (value === undefined) throw new Refused(`required claim ${claim} not present in ID token`)
  if (typeof value !== 'string') throw new Refused(`parse claim ${claim}: must be a string`)
  if (value !== wanted)
    throw new Refused(`required claim ${claim} value does not match. Got = ${value}, want = ${wanted}`)
}

function checkRule(what: string, { expression, message, program }: CompiledRule, variables: Variables): void {
  if (evaluated(`${what} expression`, program, variables) === true) return
  throw new Refused(`validation expression '${expression}' failed: ${message}`)
}

/** Texts that an expression says: none for null and for what is empty. */
function textsOf(what: string, program: CelProgram, variables: Variables): readonly string[] {
  const value = evaluated(what, program, variables)
  if (value === null) return []
  const values = value instanceof CelList ? value.values() : [value]
  const texts = values.filter((each) => typeof each === 'string')
  if (texts.length < values.length) throw new Refused(`${what}: expression must return a string or a list of strings`)
  return texts.filter((text) => text !== '')
}

function evaluated(what: string, program: CelProgram, variables: Variables): CelValue {
  const outcome = program.run(variables, expressionCostMax)
  if ('error' in outcome) throw new Refused(`error evaluating ${what}: ${outcome.error}`)
  return outcome.value
}
