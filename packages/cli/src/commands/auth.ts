import type { KubernetesObject } from '@coracle/api'
import { isUnreachableServer } from '@coracle/client'
import { CliError, SilentError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { alignTabs, tableAlignment } from '../output/align.ts'
import { ObjectPrinter } from '../output/object-printer.ts'
import { type OutputFormatFlags, readGivenFormat } from '../output/output-format.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'
import { splitOnce } from '../split-once.ts'

export interface CanIFlags extends ConnectionFlags {
  readonly allNamespaces?: boolean
  readonly list?: boolean
  readonly quiet?: boolean
  readonly subresource?: string
  readonly headers: boolean
}

/** `coracle auth can-i VERB TYPE[/NAME]`: prints yes or no; no is exit code 1 */
export async function canI(host: Host, args: readonly string[], flags: CanIFlags): Promise<void> {
  const [verb, target, ...more] = args
  if (flags.list === true && args.length > 0) throw new CliError('list option must be specified with no arguments')
  if (flags.list === true) return listRights(host, flags)
  if (verb === undefined || target === undefined || more.length > 0) {
    throw new CliError(
      "you must specify two arguments: verb resource or verb resource/resourceName.\nSee 'coracle auth can-i -h' for help and examples.",
    )
  }
  await withSession(host, flags, async (session) => {
    const spec = target.startsWith('/')
      ? { nonResourceAttributes: pathAttributes(host, verb, target, flags) }
      : { resourceAttributes: await attributesOf(host, session, verb, target, flags) }
    if (!flags.headers) throw new CliError('--no-headers cannot be set without --list specified')
    const {
      allowed,
      denied,
      reason = '',
      evaluationError = '',
    } = (await review(session, 'selfsubjectaccessreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec,
    })) as AccessStatus
    if (flags.quiet !== true) {
      const answer = allowed ? 'yes' : 'no'
      const why = reason === '' ? '' : ` - ${reason}`
      const trouble = evaluationError === '' ? '' : ` - ${evaluationError}`
      host.stdout.write(`${answer}${denied === true || !allowed ? why : ''}${allowed ? '' : trouble}\n`)
    }
    if (!allowed) throw new SilentError()
  })
}

interface AccessStatus {
  readonly allowed: boolean
  readonly denied?: boolean
  readonly reason?: string
  readonly evaluationError?: string
}

/** What rights to resources, and to other paths, are usually given for. */
const resourceVerbs = new Set(
  'get list watch create update patch delete deletecollection use bind escalate impersonate approve sign attest *'.split(
    ' ',
  ),
)
const pathVerbs = new Set('get put post head options delete patch *'.split(' '))

function warnOfVerb({ stderr }: Host, verb: string, known: ReadonlySet<string>): void {
  if (!known.has(verb)) stderr.write(`Warning: verb '${verb}' is not a known verb\n\n`)
}

function pathAttributes(host: Host, verb: string, path: string, { subresource = '' }: CanIFlags): object {
  if (subresource !== '') throw new CliError('--subresource can not be used with NonResourceURL')
  warnOfVerb(host, verb, pathVerbs)
  return { path, verb }
}

async function attributesOf(
  host: Host,
  session: Session,
  verb: string,
  target: string,
  { allNamespaces, subresource }: CanIFlags,
): Promise<object> {
  const [type = '', name] = splitOnce(target, '/')
  const resource = type === '*' ? undefined : await findType(host, session, type)
  const isScoped = resource?.namespaced !== false
  if (resource !== undefined && !isScoped && allNamespaces !== true) {
    host.stderr.write(
      `Warning: resource '${resource.plural}' is not namespace scoped${resource.group === '' ? '' : ` in group '${resource.group}'`}\n\n`,
    )
  }
  if (allNamespaces !== true) warnOfVerb(host, verb, resourceVerbs)
  return {
    ...(allNamespaces === true || !isScoped ? {} : { namespace: session.namespace }),
    verb,
    group: resource?.group ?? (type === '*' ? '*' : ''),
    ...(resource === undefined ? {} : { version: resource.version }),
    resource: resource?.plural ?? type,
    ...(subresource === undefined ? {} : { subresource }),
    ...(name === undefined ? {} : { name }),
  }
}

const isUnasked = async (error: unknown): Promise<boolean> =>
  isUnreachableServer(error) && (await import('../unreachable.ts')).isNobody(error)

/** A type that the server does not have may be asked about too: rights can come before kinds. */
async function findType({ stderr }: Host, session: Session, type: string) {
  try {
    return (await session.catalog()).find(type)
  } catch (error) {
    if (!(error instanceof CliError) && !(await isUnasked(error))) throw error
    const [name = '', ...group] = type.split('.')
    const where = group.length === 0 ? '' : ` in group '${group.join('.')}'`
    stderr.write(`Warning: the server doesn't have a resource type '${name}'${where}\n\n`)
    return undefined
  }
}

async function listRights(host: Host, { headers, ...flags }: CanIFlags): Promise<void> {
  await withSession(host, flags, async (session) => {
    if (flags.quiet === true || flags.allNamespaces === true || (flags.subresource ?? '') !== '') {
      throw new CliError("list option can't be specified with neither quiet, all-namespaces nor subresource options")
    }
    const status = (await review(session, 'selfsubjectrulesreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectRulesReview',
      spec: { namespace: session.namespace },
    })) as RulesStatus
    const rows = ruleRows(status)
    const head = headers ? [['Resources', 'Non-Resource URLs', 'Resource Names', 'Verbs']] : []
    const text = [...head, ...rows].map((cells) => `${cells.join('\t')}\n`).join('')
    host.stdout.write(alignTabs(text, tableAlignment))
  })
}

/** A rule for one resource or one path. */
interface SingleRule {
  readonly group?: string
  readonly resource?: string
  readonly name?: string
  readonly url?: string
  readonly verbs: readonly string[]
}

/** Rules as rows, in kubectl's form: one for each resource with all that may be done with it, and one for each path and verb. */
function ruleRows({ resourceRules = [], nonResourceRules = [] }: RulesStatus): readonly (readonly string[])[] {
  const byResource = new Map<string, SingleRule>()
  for (const { apiGroups = [], resources = [], resourceNames = [], verbs } of resourceRules) {
    for (const group of apiGroups) {
      for (const resource of resources) {
        for (const name of resourceNames.length === 0 ? [undefined] : resourceNames) {
          const key = JSON.stringify([group, resource, name])
          const known = byResource.get(key)?.verbs ?? []
          const own = { group, resource, ...(name === undefined ? {} : { name }) }
          byResource.set(key, { ...own, verbs: [...new Set([...known, ...verbs])] })
        }
      }
    }
  }
  const ofPaths = nonResourceRules.flatMap(({ nonResourceURLs = [], verbs }) =>
    nonResourceURLs.flatMap((url) => verbs.map((verb): SingleRule => ({ url, verbs: [verb] }))),
  )
  const list = (values: readonly (string | undefined)[]): string =>
    `[${values.filter((each) => each !== undefined).join(' ')}]`
  const order = ({ verbs, group, resource, name, url }: SingleRule): string =>
    [list(verbs), list([group]), list([resource]), list([name]), list([url])].join(',')
  return [...ofPaths, ...byResource.values()]
    .map((rule) => [order(rule), rule] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, { group = '', resource = '', name, url, verbs }]) => [
      group === '' ? resource : `${resource}.${group}`,
      list([url]),
      list([name]),
      list(verbs),
    ])
}

interface RulesStatus {
  readonly resourceRules?: readonly {
    readonly apiGroups?: readonly string[]
    readonly resources?: readonly string[]
    readonly resourceNames?: readonly string[]
    readonly verbs: readonly string[]
  }[]
  readonly nonResourceRules?: readonly {
    readonly nonResourceURLs?: readonly string[]
    readonly verbs: readonly string[]
  }[]
}

export interface WhoAmIFlags extends ConnectionFlags, OutputFormatFlags {
  readonly allowMissingTemplateKeys: boolean
}

/** `coracle auth whoami` */
export async function whoAmI(host: Host, flags: WhoAmIFlags): Promise<void> {
  const format = await readGivenFormat(host, flags)
  await withSession(host, flags, async (session) => {
    const kind = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
    const { metadata = {}, status } = await reviewed(session, 'selfsubjectreviews', kind)
    const { userInfo = {} } = (status ?? {}) as WhoStatus
    if (format !== undefined && format.type !== 'table') {
      const object = { ...kind, metadata, ...{ status: { userInfo } } } as KubernetesObject
      const resource = {
        group: 'authentication.k8s.io',
        version: 'v1',
        kind: kind.kind,
        plural: 'selfsubjectreviews',
        namespaced: false,
      }
      host.stdout.write(
        await new ObjectPrinter(format, { requireKeys: !flags.allowMissingTemplateKeys, order: inOrderOfReview }).one({
          resource,
          object,
        }),
      )
      return
    }
    const { username, uid, groups = [], extra = {} } = userInfo
    const rows = [
      ['ATTRIBUTE', 'VALUE'],
      ...(username ? [['Username', username]] : []),
      ...(uid ? [['UID', uid]] : []),
      ...(groups.length === 0 ? [] : [['Groups', `[${groups.join(' ')}]`]]),
      ...Object.entries(extra)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, values]) => [`Extra: ${key}`, `[${values.join(' ')}]`]),
    ]
    host.stdout.write(alignTabs(rows.map((cells) => `${cells.join('\t')}\n`).join(''), tableAlignment))
  })
}

/** The fields of a SelfSubjectReview in the order in which its type declares them. */
function inOrderOfReview(_: unknown, object: unknown): unknown {
  const { kind, apiVersion, metadata, status } = object as KubernetesObject & { readonly status: WhoStatus }
  const { username, uid, groups, extra } = status.userInfo ?? {}
  return { kind, apiVersion, metadata, status: { userInfo: { username, uid, groups, extra } } }
}

interface WhoStatus {
  readonly userInfo?: {
    readonly username?: string
    readonly uid?: string
    readonly groups?: readonly string[]
    readonly extra?: Readonly<Record<string, readonly string[]>>
  }
}

interface Question {
  readonly apiVersion: string
  readonly kind: string
  readonly spec?: object
}

interface Answer {
  readonly metadata?: object
  readonly status?: unknown
}

/** Asks the server a question that it answers in the status, and keeps nowhere. */
async function review(session: Session, plural: string, question: Question): Promise<unknown> {
  return (await reviewed(session, plural, question)).status ?? {}
}

/** The question as the server answers it. */
async function reviewed({ client }: Session, plural: string, question: Question): Promise<Answer> {
  const { body } = await client.request({
    method: 'POST',
    path: `/apis/${question.apiVersion}/${plural}`,
    body: JSON.stringify(question),
    contentType: 'application/json',
  })
  return JSON.parse(body) as Answer
}
