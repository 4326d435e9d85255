import type { IncomingMessage, ServerResponse } from 'node:http'
import { compareText, formatTime } from '@coracle/api'
import type { Random } from '@coracle/environment'
import { clausesOf, matches, notAcceptable } from './media-types.ts'
import { yaml } from './representation/format.ts'
import { formatOf } from './representation/representation.ts'
import { send } from './respond.ts'
import { serverVersion } from './version.ts'

/** What the pages tell of. */
export interface ZPages {
  readonly startedMs: number
  readonly nowMs: number
  readonly random: Random
  /** Every path the server answers apart from resources. */
  readonly paths: readonly string[]
  /** What the command that runs the server was given, by the names of its flags, and their defaults. */
  readonly flags: Readonly<Record<string, string>>
}

/** The pages, by their paths. */
export type ZPagePath = '/statusz' | '/flagz'

const component = 'kube-apiserver'
const group = 'config.k8s.io'
const kinds = { '/statusz': 'Statusz', '/flagz': 'Flagz' } as const

/**
 * Answers `/statusz` (https://kep.k8s.io/4827) or `/flagz` (https://kep.k8s.io/4828): as text for people, or as an object where the client
 * names one by `g`, `v` and `as`. The former version of these objects, `v1alpha1`, comes with a warning.
 */
export function handleZPage(
  path: ZPagePath,
  pages: ZPages,
  request: IncomingMessage,
  query: URLSearchParams,
  response: ServerResponse,
): void | Promise<void> {
  const accept = request.headers.accept?.trim() ?? ''
  const form = accept === '' ? 'text' : formAsked(accept, kinds[path])
  if (form === undefined) throw notAcceptable(servedTypes)
  if (form === 'text') {
    const text = path === '/statusz' ? statuszText(pages) : flagzText(pages)
    return send(response, 200, accept === '' || path === '/flagz' ? textType : 'text/plain', Buffer.from(text))
  }
  const { version, mediaType } = form
  const format = mediaType === yaml.contentType ? yaml : formatOf({ format: 'json', metaVersion: 'v1' }, request, query)
  const head = { kind: kinds[path], apiVersion: `${group}/${version}`, metadata: { name: component } }
  const object = path === '/statusz' ? { ...head, ...statusOf(pages) } : { ...head, flags: pages.flags }
  const warnings =
    version === 'v1alpha1'
      ? [`This version of the ${path.slice(1)} endpoint is deprecated. Please use a newer version.`]
      : []
  return send(response, 200, format.contentType, format.encode(object), warnings)
}

const textType = 'text/plain; charset=utf-8'
const servedTypes = ['application/json', 'application/yaml', 'text/plain'] as const

interface ObjectForm {
  readonly mediaType: (typeof servedTypes)[number]
  readonly version: 'v1beta1' | 'v1alpha1'
}

/** What the best clause of an `Accept` header asks for that there is: text has no versions, and nothing else goes without. */
function formAsked(accept: string, kind: string): 'text' | ObjectForm | undefined {
  for (const { type, parameters } of clausesOf(accept)) {
    if (parameters.has('stream') || parameters.has('sv')) continue
    const [as, version] = [parameters.get('as'), parameters.get('v')]
    const namesNone = as === undefined && version === undefined && !parameters.has('g')
    const isServed = version === 'v1beta1' || version === 'v1alpha1'
    for (const mediaType of servedTypes.filter((each) => matches(type, each))) {
      if (mediaType === 'text/plain') {
        if (namesNone) return 'text'
      } else if (isServed && as === kind && parameters.get('g') === group) return { mediaType, version }
    }
  }
  return undefined
}

const binaryVersion = serverVersion.gitVersion.replace(/^v/, '')
const emulationVersion = `${serverVersion.emulationMajor}.${serverVersion.emulationMinor}`

function statusOf({ startedMs, nowMs, paths }: ZPages) {
  return {
    startTime: formatTime(startedMs),
    uptimeSeconds: uptimeSeconds(startedMs, nowMs),
    goVersion: serverVersion.goVersion,
    binaryVersion,
    emulationVersion,
    paths: debuggingPaths(paths),
  }
}

const uptimeSeconds = (startedMs: number, nowMs: number): number => Math.max(0, Math.floor((nowMs - startedMs) / 1000))

/** Roots of what is the API, and no page about the server. */
const notForDebugging: ReadonlySet<string> = new Set(['/apis', '/api', '/openid', '/openapi', '/.well-known'])

function debuggingPaths(paths: readonly string[]): readonly string[] {
  const roots = paths.map((path) => `/${path.split('/')[1] ?? ''}`)
  return [...new Set(roots)].filter((root) => root !== '/' && !notForDebugging.has(root)).sort(compareText)
}

const warningText =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.'

/** One is drawn for each answer: nobody is to write a parser for it. */
const delimiters = [':', ': ', '=', ' '] as const
const drawDelimiter = (random: Random): string => delimiters[Math.floor(random.next() * delimiters.length)] ?? ':'

function statuszText({ random, paths, startedMs, nowMs }: ZPages): string {
  const delimiter = drawDelimiter(random)
  const seconds = uptimeSeconds(startedMs, nowMs)
  const two = (number: number) => String(number).padStart(2, '0')
  const up = `${Math.floor(seconds / 3600)} hr ${two(Math.floor(seconds / 60) % 60)} min ${two(seconds % 60)} sec`
  const lines = [
    ['Started', unixDate(startedMs)],
    ['Up', up],
    ['Go version', serverVersion.goVersion],
    ['Binary version', binaryVersion],
    ['Emulation version', emulationVersion],
    ['Paths', debuggingPaths(paths).join(' ')],
  ]
  const text = lines.map(([name, value]) => `${name}${delimiter} ${value}\n`).join('')
  return `\n${component} statusz\n${warningText}\n\n${text}`
}

function flagzText({ random, flags }: ZPages): string {
  const delimiter = drawDelimiter(random)
  const names = Object.keys(flags).sort(compareText)
  const text = names.map((name) => `${name}${delimiter}${flags[name]}\n`).join('')
  return `\n${component} flagz\n${warningText}\n${text}`
}

/** `Wed Oct 16 21:03:43 UTC 2024`, as Go's time.UnixDate. */
function unixDate(ms: number): string {
  // biome-ignore lint/style/noRestrictedGlobals: a pure conversion
  const [day = '', date = '', month = '', year = '', time = ''] = new Date(ms).toUTCString().replace(',', '').split(' ')
  return `${day} ${month} ${String(Number(date)).padStart(2)} ${time} UTC ${year}`
}
