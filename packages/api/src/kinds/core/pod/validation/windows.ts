import { type FieldError, invalidField } from '../../../../field-error.ts'
import type { FieldPath } from '../../../../field-path.ts'
import type { PodSpec } from '../pod-spec.ts'
import type { WindowsSecurityContextOptions } from '../security.ts'
import { checkTextOrEmpty } from './checks.ts'

const credentialSpecKiBMax = 64
const domainBytesMax = 255
const userBytesMax = 104

/** Settings for Windows nodes (validateWindowsSecurityContextOptions). */
export function validateWindowsOptions(
  options: WindowsSecurityContextOptions | undefined,
  path: FieldPath,
): FieldError[] {
  if (options === undefined) return []
  const { gmsaCredentialSpecName: specName, gmsaCredentialSpec: spec, runAsUserName } = options
  return [
    ...(specName === undefined
      ? []
      : checkTextOrEmpty('dns1123-subdomain', specName, path.field('gmsaCredentialSpecName'))),
    ...(spec === undefined ? [] : problems(spec, credentialSpecProblems(spec), path.field('gmsaCredentialSpec'))),
    ...(runAsUserName === undefined
      ? []
      : problems(runAsUserName, userNameProblems(runAsUserName), path.field('runAsUserName'))),
  ]
}

/** Containers that run as processes of the host: all of a pod or none (validateWindowsHostProcessPod). */
export function hostProcessErrors(spec: PodSpec, path: FieldPath): FieldError[] {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess
  const containers = (['initContainers', 'containers', 'ephemeralContainers'] as const).flatMap((list) =>
    (spec[list] ?? []).map(({ securityContext }, index) => ({
      own: securityContext?.windowsOptions?.hostProcess,
      path: path.field(list).index(index).field('securityContext').field('windowsOptions').field('hostProcess'),
    })),
  )
  const errors = containers.flatMap(({ own, path }) =>
    ofPod === undefined || own === undefined || own === ofPod
      ? []
      : [invalidField(path, own, `pod hostProcess value must be identical if both are specified, was ${ofPod}`)],
  )
  const hostProcesses = containers.filter(({ own }) => own ?? ofPod ?? false)
  if (hostProcesses.length === 0) return errors
  if (hostProcesses.length !== containers.length) {
    const rule = 'If pod contains any hostProcess containers then all containers must be HostProcess containers'
    errors.push(invalidField(path, '', rule))
  }
  if (spec.hostNetwork) return errors
  const rule = 'hostNetwork must be true if pod contains any hostProcess containers'
  return [...errors, invalidField(path.field('hostNetwork'), false, rule)]
}

const problems = (value: string, found: readonly string[], path: FieldPath): FieldError[] =>
  found.map((problem) => invalidField(path, value, problem))

function credentialSpecProblems(spec: string): readonly string[] {
  if (spec === '') return ['gmsaCredentialSpec cannot be an empty string']
  if (Buffer.byteLength(spec) <= credentialSpecKiBMax * 1024) return []
  return [`gmsaCredentialSpec size must be under ${credentialSpecKiBMax} KiB`]
}

const hasControlCharacter = (text: string): boolean => [...text].some((each) => each < ' ' || each === '\u007f')

/** A user of the node, or one of a domain as `DOMAIN\user`. */
function userNameProblems(name: string): readonly string[] {
  if (name === '') return ['runAsUserName cannot be an empty string']
  if (hasControlCharacter(name)) return ['runAsUserName cannot contain control characters']
  const [first = '', second, ...more] = name.split('\\')
  if (more.length > 0) return ['runAsUserName cannot contain more than one backslash']
  return second === undefined ? userProblems(first) : [...domainProblems(first), ...userProblems(second)]
}

/** A NetBIOS name: up to 15 characters, of which the first is no dot. */
const netBios = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/
const dnsLabel = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?'
const dnsName = new RegExp(`^${dnsLabel}(?:\\.${dnsLabel})*$`)

function domainProblems(domain: string): readonly string[] {
  const found: string[] = []
  if (Buffer.byteLength(domain) > domainBytesMax) {
    found.push(`runAsUserName's Domain length must be under ${domainBytesMax + 1} characters`)
  }
  if (!netBios.test(domain) && !dnsName.test(domain)) {
    found.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
  }
  return found
}

function userProblems(user: string): readonly string[] {
  const found: string[] = []
  if (user === '') found.push("runAsUserName's User cannot be empty")
  if (Buffer.byteLength(user) > userBytesMax) {
    found.push(`runAsUserName's User length must not be longer than ${userBytesMax} characters`)
  }
  if (/^[. ]+$/.test(user)) found.push("runAsUserName's User cannot contain only periods or spaces")
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    found.push('runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]')
  }
  return found
}
