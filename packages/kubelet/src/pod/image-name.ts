/** The longest name of a repository. */
const nameLengthMax = 255

const registry =
  /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[a-fA-F0-9:]+\])(?::\d+)?$/
const repository = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/
const tag = /^\w[\w.-]{0,127}$/
const digest = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/

/**
 * What is wrong with the name of an image, by the grammar that registries share (https://github.com/distribution/reference) and in its words;
 * undefined where nothing is. `nginx` is `docker.io/library/nginx`.
 */
export function imageNameProblem(image: string): string | undefined {
  if (/^[a-f0-9]{64}$/.test(image))
    return `invalid repository name (${image}), cannot specify 64-byte hexadecimal strings`
  const { host, remote } = withHost(image)
  const lower = remote.split(':', 1)[0] ?? ''
  if (lower !== lower.toLowerCase()) return `invalid reference format: repository name (${lower}) must be lowercase`
  const [named = '', sum, ...more] = remote.split('@')
  const colon = named.indexOf(':')
  const [path, label] = colon < 0 ? [named] : [named.slice(0, colon), named.slice(colon + 1)]
  const isWellFormed =
    more.length === 0 &&
    registry.test(host) &&
    repository.test(path) &&
    (label === undefined || tag.test(label)) &&
    (sum === undefined || digest.test(sum))
  if (!isWellFormed) return 'invalid reference format'
  if ((path ?? '').length > nameLengthMax) return `repository name must not be more than ${nameLengthMax} characters`
  return sum === undefined ? undefined : digestProblem(sum)
}

/** How many digits the checksums of an algorithm have. */
const digestLengths: ReadonlyMap<string, number> = new Map([
  ['sha256', 64],
  ['sha384', 96],
  ['sha512', 128],
])

function digestProblem(sum: string): string | undefined {
  const [algorithm = '', digits = ''] = sum.split(':')
  const length = digestLengths.get(algorithm)
  if (length === undefined) return 'unsupported digest algorithm'
  if (digits.length !== length) return 'invalid checksum digest length'
  return /^[a-f0-9]+$/.test(digits) ? undefined : 'invalid checksum digest format'
}

/** The registry of an image, and what it is there. */
function withHost(image: string): { readonly host: string; readonly remote: string } {
  const slash = image.indexOf('/')
  const first = image.slice(0, slash)
  const isHost = slash >= 0 && (/[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase())
  const host = isHost ? first.replace(/^index\.docker\.io$/, hub) : hub
  const remote = isHost ? image.slice(slash + 1) : image
  return { host, remote: host === hub && !remote.includes('/') ? `library/${remote}` : remote }
}

const hub = 'docker.io'
