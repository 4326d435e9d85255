/**
 * A configuration of authentication made ready to be used, or what is wrong with it, by upstream's rules and in its words
 * (apiserver's `ValidateAuthenticationConfiguration`). Pure.
 */
import { userInfoType } from '../admission/variables.ts'
import { selects } from '../cel/ast.ts'
import { expressionError, expressionProblem } from '../cel/expression-error.ts'
import { parseCel } from '../cel/parse.ts'
import { type CelOptions, type CelProgram, compileCel } from '../cel/program.ts'
import { type CelType, mapOf, types } from '../cel/types.ts'
import { duplicateField, type FieldError, invalidField, requiredField, tooManyField } from '../field-error.ts'
import { FieldPath } from '../field-path.ts'
import { checkDomainPrefixedPath } from '../string-formats.ts'
import type { ClaimRules, CompiledRule, TextSource } from './claims.ts'
import type {
  AuthenticationConfiguration,
  ClaimMappings,
  ClaimValidationRule,
  Issuer,
  JwtAuthenticator,
  PrefixedClaimOrExpression,
  UserValidationRule,
} from './configuration.ts'

/** Issuers that a configuration may name. */
export const issuersMax = 64

/** An issuer whose tokens are good, and whose they are. */
export interface TrustedIssuer {
  readonly url: string
  readonly discoveryUrl?: string
  /** PEM. */
  readonly certificateAuthority?: string
  readonly audiences: readonly string[]
  readonly rules: ClaimRules
}

export interface CompileOptions {
  /** Issuers that may not be named: the cluster itself. */
  readonly disallowedIssuers: readonly string[]
  /** Why a text holds no certificates; undefined where it does. */
  certificateProblem(pem: string): string | undefined
}

/** The issuers of a configuration. They are not to be used where there are problems. */
export function compileAuthenticationConfiguration(
  { jwt = [], anonymous }: AuthenticationConfiguration,
  options: CompileOptions,
): { readonly issuers: readonly TrustedIssuer[]; readonly problems: readonly FieldError[] } {
  const root = FieldPath.of('jwt')
  if (jwt.length > issuersMax) return { issuers: [], problems: [tooManyField(root, jwt.length, issuersMax)] }
  const compiler = new Compiler(options)
  const [urls, discoveryUrls] = [new Set<string>(), new Set<string>()]
  const issuers = jwt.map((each, index) => {
    const path = root.index(index)
    const compiled = compiler.authenticator(each, path)
    const { url, discoveryUrl } = compiled
    compiler.add(...repeated(urls, url, path.field('issuer').field('url')))
    if (discoveryUrl !== undefined)
      compiler.add(...repeated(discoveryUrls, discoveryUrl, path.field('issuer').field('discoveryURL')))
    return compiled
  })
  const { enabled = false, conditions = [] } = anonymous ?? {}
  if (!enabled && conditions.length > 0) {
    const path = FieldPath.of('anonymous', 'conditions')
    compiler.add(
      invalidField(path, conditions.map(shownCondition), 'enabled should be set to true when conditions are defined'),
    )
  }
  return { issuers, problems: compiler.problems }
}

/** As upstream's own type has it. */
const shownCondition = ({ path = '' }: { readonly path?: string | undefined }): unknown => ({ Path: path })

function repeated(seen: Set<string>, value: string, path: FieldPath): readonly FieldError[] {
  if (seen.has(value)) return [duplicateField(path, value)]
  seen.add(value)
  return []
}

/** The variable that an expression may name, by what it is about. */
const variables = {
  claims: new Map<string, CelType>([['claims', mapOf(types.string, types.dyn)]]),
  user: new Map<string, CelType>([['user', userInfoType]]),
} as const

/** Which claims about an address of mail the expressions of an issuer look at. */
interface MailClaims {
  address: boolean
  verified: boolean
}

class Compiler {
  readonly problems: FieldError[] = []
  readonly #options: CompileOptions

  constructor(options: CompileOptions) {
    this.#options = options
  }

  add(...problems: readonly FieldError[]): void {
    this.problems.push(...problems)
  }

  authenticator(
    { issuer = {}, claimValidationRules = [], claimMappings = {}, userValidationRules = [] }: JwtAuthenticator,
    path: FieldPath,
  ): TrustedIssuer {
    const mail: MailClaims = { address: false, verified: false }
    this.#checkIssuer(issuer, path.field('issuer'))
    const claimRules = this.#claimRules(claimValidationRules, mail, path.field('claimValidationRules'))
    const mappings = this.#mappings(claimMappings, mail, path.field('claimMappings'))
    const userRules = this.#userRules(userValidationRules, path.field('userValidationRules'))
    const { url = '', discoveryURL, certificateAuthority, audiences = [] } = issuer
    return {
      url,
      audiences,
      ...(discoveryURL === undefined ? {} : { discoveryUrl: discoveryURL }),
      ...(certificateAuthority === undefined ? {} : { certificateAuthority }),
      rules: { ...claimRules, ...mappings, userRules },
    }
  }

  #checkIssuer(issuer: Issuer, path: FieldPath): void {
    const { url = '', discoveryURL = '', certificateAuthority = '', egressSelectorType = '' } = issuer
    const { disallowedIssuers, certificateProblem } = this.#options
    if (url === '') this.add(requiredField(path.field('url')))
    else {
      if (disallowedIssuers.includes(url)) {
        const why = `URL must not overlap with disallowed issuers: [${disallowedIssuers.join(' ')}]`
        this.add(invalidField(path.field('url'), url, why))
      }
      this.add(...checkUrl(url, path.field('url')))
    }
    if (discoveryURL !== '') {
      const at = path.field('discoveryURL')
      if (url !== '' && withoutSlashes(url) === withoutSlashes(discoveryURL))
        this.add(invalidField(at, discoveryURL, 'discoveryURL must be different from URL'))
      this.add(...checkUrl(discoveryURL, at))
    }
    this.#checkAudiences(issuer, path)
    const problem = certificateAuthority === '' ? undefined : certificateProblem(certificateAuthority)
    if (problem !== undefined) this.add(invalidField(path.field('certificateAuthority'), '<omitted>', problem))
    if (egressSelectorType !== '') {
      const why = 'must not be set: there is only one way to issuers'
      this.add(invalidField(path.field('egressSelectorType'), egressSelectorType, why))
    }
  }

  #checkAudiences({ audiences = [], audienceMatchPolicy = '' }: Issuer, path: FieldPath): void {
    const at = path.field('audiences')
    if (audiences.length === 0) {
      this.add(requiredField(at, `at least one ${at} is required`))
      return
    }
    const seen = new Set<string>()
    for (const [index, audience] of audiences.entries()) {
      if (audience === '') this.add(requiredField(at.index(index)))
      this.add(...repeated(seen, audience, at.index(index)))
    }
    if (audienceMatchPolicy === 'MatchAny') return
    const policy = path.field('audienceMatchPolicy')
    if (audiences.length > 1) {
      const why = 'audienceMatchPolicy must be MatchAny for multiple audiences'
      this.add(invalidField(policy, audienceMatchPolicy, why))
    } else if (audienceMatchPolicy !== '') {
      const why = 'audienceMatchPolicy must be empty or MatchAny for single audience'
      this.add(invalidField(policy, audienceMatchPolicy, why))
    }
  }

  #claimRules(
    rules: readonly ClaimValidationRule[],
    mail: MailClaims,
    path: FieldPath,
  ): Pick<ClaimRules, 'required' | 'claimRules'> {
    const required = new Map<string, string>()
    const claimRules: CompiledRule[] = []
    const expressions = new Set<string>()
    for (const [index, { claim = '', requiredValue = '', expression = '', message = '' }] of rules.entries()) {
      const at = path.index(index)
      if (claim !== '' && expression !== '') {
        this.add(invalidField(at, claim, "claim and expression can't both be set"))
      } else if (claim !== '') {
        if (message !== '')
          this.add(invalidField(at.field('message'), message, 'may not be specified when claim is set'))
        if (required.has(claim)) this.add(duplicateField(at.field('claim'), claim))
        required.set(claim, requiredValue)
      } else if (expression !== '') {
        if (requiredValue !== '') {
          const why = 'may not be specified when expression is set'
          this.add(invalidField(at.field('requiredValue'), requiredValue, why))
        }
        const program = this.#rule(expression, 'claims', expressions, at.field('expression'))
        if (program === undefined) continue
        mail.verified ||= looksAt(expression, 'email_verified')
        claimRules.push({ expression, message, program })
      } else {
        this.add(requiredField(at, 'claim or expression is required'))
      }
    }
    return { required, claimRules }
  }

  #mappings(
    { username = {}, groups = {}, uid = {}, extra = [] }: ClaimMappings,
    mail: MailClaims,
    path: FieldPath,
  ): Pick<ClaimRules, 'username' | 'groups' | 'uid' | 'extra'> {
    const { claim = '', expression = '' } = username
    if (claim === '' && expression === '')
      this.add(requiredField(path.field('username'), 'claim or expression is required'))
    const name = this.#prefixed(username, path.field('username'))
    const isExpression = name !== undefined && 'program' in name
    if (isExpression) {
      mail.address = looksAt(expression, 'email')
      mail.verified ||= looksAt(expression, 'email_verified')
    }
    const mapped = {
      username: name,
      groups: this.#prefixed(groups, path.field('groups')),
      uid: this.#source(uid, '', path.field('uid')),
      extra: this.#extra(extra, mail, path.field('extra')),
    }
    if (mail.address && !mail.verified) {
      const why =
        'claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression'
      this.add(invalidField(path.field('username').field('expression'), expression, why))
    }
    return mapped
  }

  #prefixed({ prefix, ...source }: PrefixedClaimOrExpression, path: FieldPath): TextSource {
    const { claim = '', expression = '' } = source
    if (claim !== '' && expression === '' && prefix === undefined) {
      const why = 'prefix is required when claim is set. It can be set to an empty string to disable prefixing'
      this.add(requiredField(path.field('prefix'), why))
    }
    if (claim === '' && expression !== '' && prefix !== undefined)
      this.add(invalidField(path.field('prefix'), prefix, 'may not be specified when expression is set'))
    return this.#source(source, prefix ?? '', path)
  }

  #source(
    { claim = '', expression = '' }: Omit<PrefixedClaimOrExpression, 'prefix'>,
    prefix: string,
    path: FieldPath,
  ): TextSource {
    if (claim !== '' && expression !== '') {
      this.add(invalidField(path, '', "claim and expression can't both be set"))
      return undefined
    }
    if (claim !== '') return { claim, prefix }
    if (expression === '') return undefined
    const program = this.#compile(expression, 'claims', path.field('expression'))
    return program && { program }
  }

  #extra(mappings: NonNullable<ClaimMappings['extra']>, mail: MailClaims, path: FieldPath): ClaimRules['extra'] {
    const compiled: { readonly key: string; readonly program: CelProgram }[] = []
    const seen = new Set<string>()
    for (const [index, { key = '', valueExpression = '' }] of mappings.entries()) {
      const [at, ofValue] = [path.index(index).field('key'), path.index(index).field('valueExpression')]
      this.add(...checkDomainPrefixedPath(key, at))
      if (key !== key.toLowerCase()) this.add(invalidField(at, key, 'must be lowercase'))
      if (isReserved(key)) {
        const why = 'k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use'
        this.add(invalidField(at, key, why))
      }
      const problems = repeated(seen, key, at)
      this.add(...problems)
      if (problems.length > 0) continue
      if (valueExpression === '') this.add(requiredField(ofValue))
      const program = valueExpression === '' ? undefined : this.#compile(valueExpression, 'claims', ofValue)
      if (program === undefined) continue
      mail.verified ||= looksAt(valueExpression, 'email_verified')
      compiled.push({ key, program })
    }
    return compiled
  }

  #userRules(rules: readonly UserValidationRule[], path: FieldPath): readonly CompiledRule[] {
    const expressions = new Set<string>()
    return rules.flatMap(({ expression = '', message = '' }, index) => {
      const at = path.index(index).field('expression')
      if (expression === '') this.add(requiredField(at))
      const program = expression === '' ? undefined : this.#rule(expression, 'user', expressions, at)
      return program === undefined ? [] : [{ expression, message, program }]
    })
  }

  /** An expression that is true or false, and not among those that were seen. */
  #rule(
    expression: string,
    variable: keyof typeof variables,
    seen: Set<string>,
    path: FieldPath,
  ): CelProgram | undefined {
    const problems = repeated(seen, expression, path)
    this.add(...problems)
    if (problems.length > 0) return undefined
    return this.#compile(expression, variable, path, {
      typeProblem: ({ kind }) => (kind === 'bool' ? undefined : 'must evaluate to bool'),
    })
  }

  #compile(
    expression: string,
    variable: keyof typeof variables,
    path: FieldPath,
    options: CelOptions = {},
  ): CelProgram | undefined {
    const compiled = compileCel(expression, variables[variable], options)
    if ('program' in compiled) return compiled.program
    this.add(expressionError(path, expression, expressionProblem(compiled)))
    return undefined
  }
}

const looksAt = (expression: string, claim: string): boolean => selects(parseCel(expression), 'claims', claim)

const withoutSlashes = (url: string): string => url.replace(/\/+$/, '')

function checkUrl(text: string, path: FieldPath): readonly FieldError[] {
  if (!URL.canParse(text)) {
    const why = /^[a-z][a-z0-9+.-]*:/i.test(text) ? 'must be a URL' : 'URL scheme must be https'
    return [invalidField(path, text, why)]
  }
  const { protocol, username, password, search, hash } = new URL(text)
  const rules: readonly (readonly [boolean, string])[] = [
    [protocol === 'https:', 'URL scheme must be https'],
    [username === '' && password === '', 'URL must not contain a username or password'],
    [search === '', 'URL must not contain a query'],
    [hash === '', 'URL must not contain a fragment'],
  ]
  return rules.filter(([holds]) => !holds).map(([, why]) => invalidField(path, text, why))
}

function isReserved(key: string): boolean {
  const slash = key.indexOf('/')
  const domain = slash < 0 ? '' : key.slice(0, slash)
  return ['kubernetes.io', 'k8s.io'].some((reserved) => domain === reserved || domain.endsWith(`.${reserved}`))
}
