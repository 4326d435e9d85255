import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Programs of busybox that images have. */
const applets = [
  ...[
    'cat',
    'chmod',
    'dd',
    'echo',
    'env',
    'false',
    'grep',
    'head',
    'hostname',
    'httpd',
    'id',
    'ip',
    'ls',
    'mkdir',
    'mount',
  ],
  ...[
    'nc',
    'nslookup',
    'ping',
    'printf',
    'ps',
    'pwd',
    'readlink',
    'rm',
    'sh',
    'sleep',
    'sort',
    'stat',
    'stty',
    'tail',
    'touch',
    'tr',
    'true',
  ],
  ...['tty', 'wc', 'wget', 'yes'],
]

/** The name of the image that tests of container runtimes use. */
export const testImage = 'localhost/busybox:1'

/** What an image says of the containers that are made of it. */
export interface ImageConfig {
  readonly Entrypoint?: readonly string[]
  readonly Cmd?: readonly string[]
  readonly Env?: readonly string[]
  readonly User?: string
  readonly WorkingDir?: string
}

/** An image: its parts by digest, and which of them is the first. */
export interface TestImage {
  readonly blobs: ReadonlyMap<string, { readonly mediaType: string; readonly bytes: Buffer }>
  readonly manifestDigest: string
}

const mediaTypes = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
} as const

const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** An image of busybox, which says `config` of its containers; `note` is a file in it that tells it from others. */
export async function busyboxImage(config: ImageConfig, note = ''): Promise<TestImage> {
  const layer = await rootFileSystem(note)
  const image = Buffer.from(
    JSON.stringify({
      architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
      os: 'linux',
      config: { Env: ['PATH=/bin'], ...config },
      rootfs: { type: 'layers', diff_ids: [digestOf(layer)] },
    }),
  )
  const descriptor = (mediaType: string, bytes: Buffer) => ({ mediaType, digest: digestOf(bytes), size: bytes.length })
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: mediaTypes.manifest,
      config: descriptor(mediaTypes.config, image),
      layers: [descriptor(mediaTypes.layer, layer)],
    }),
  )
  const blobs = new Map([
    [digestOf(layer), { mediaType: mediaTypes.layer, bytes: layer }],
    [digestOf(image), { mediaType: mediaTypes.config, bytes: image }],
    [digestOf(manifest), { mediaType: mediaTypes.manifest, bytes: manifest }],
  ])
  return { blobs, manifestDigest: digestOf(manifest) }
}

/** Writes an image as a file that runtimes import, under a name. */
export async function writeImage({ blobs, manifestDigest }: TestImage, name: string, path: string): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'coracle-image-'))
  try {
    await mkdir(join(directory, 'blobs', 'sha256'), { recursive: true })
    for (const [digest, { bytes }] of blobs)
      await writeFile(join(directory, 'blobs', 'sha256', digest.replace('sha256:', '')), bytes)
    const annotations = { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': 'latest' }
    const size = blobs.get(manifestDigest)?.bytes.length
    const manifests = [{ mediaType: mediaTypes.manifest, digest: manifestDigest, size, annotations }]
    await writeFile(join(directory, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests }))
    await writeFile(join(directory, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}')
    await writeFile(join(directory, 'manifest.json'), JSON.stringify([savedManifest(blobs, name)]))
    await run('tar', ['-cf', path, '-C', directory, 'oci-layout', 'index.json', 'manifest.json', 'blobs'])
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** The parts of an image as `docker save` lists them. */
function savedManifest(blobs: TestImage['blobs'], name: string) {
  const pathsOf = (mediaType: string) =>
    [...blobs].flatMap(([digest, blob]) =>
      blob.mediaType === mediaType ? [`blobs/sha256/${digest.replace('sha256:', '')}`] : [],
    )
  return { Config: pathsOf(mediaTypes.config)[0], RepoTags: [name], Layers: pathsOf(mediaTypes.layer) }
}

async function rootFileSystem(note: string): Promise<Buffer> {
  const directory = await mkdtemp(join(tmpdir(), 'coracle-rootfs-'))
  try {
    const root = join(directory, 'root')
    for (const each of ['bin', 'dev', 'etc', 'proc', 'sys']) await mkdir(join(root, each), { recursive: true })
    await mkdir(join(root, 'tmp'), { mode: 0o1777 })
    await copyFile('/bin/busybox', join(root, 'bin', 'busybox'))
    for (const applet of applets) await symlink('busybox', join(root, 'bin', applet))
    await writeFile(join(root, 'etc', 'passwd'), 'root:x:0:0::/:/bin/sh\nperson:x:1234:1234::/:/bin/sh\n')
    await writeFile(join(root, 'etc', 'group'), 'root:x:0:\nperson:x:1234:\nextra:x:4321:person\n')
    await writeFile(join(root, 'note'), note)
    await run('tar', ['-cf', join(directory, 'layer.tar'), '--owner=0', '--group=0', '--mtime=@0', '-C', root, '.'])
    return await readFile(join(directory, 'layer.tar'))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
