import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { externalPackages, type PublishedBundle } from '../bundle.ts'
import { manPages } from '../reference/man-pages.ts'
import { compile } from './compile.ts'
import { licenceTexts } from './licence-texts.ts'
import {
  type CommonManifest,
  commandManifest,
  commandPackage,
  libraryManifest,
  type WorkspaceManifest,
} from './manifests.ts'

/** A package of the workspace. */
interface WorkspacePackage {
  /** Its directory below `packages`. */
  readonly folder: string
  readonly manifest: WorkspaceManifest
}

/**
 * Lays every package out below `output` as it is published, the command with this bundle, and returns their directories: libraries first, then
 * the command.
 */
export async function stage(root: string, output: string, bundle: PublishedBundle): Promise<readonly string[]> {
  const common = readJson<CommonManifest>(join(root, 'package.json'))
  const packages = readdirSync(join(root, 'packages')).map((folder) => ({
    folder,
    manifest: readJson<WorkspaceManifest>(join(root, 'packages', folder, 'package.json')),
  }))
  const libraries = packages.filter(({ manifest }) => manifest.name !== commandPackage)
  const compiledFiles = join(output, '.compiled')
  compile(
    root,
    {
      // What a library's users may import or run; what these reach is published, and nothing else.
      entries: new Map(libraries.flatMap((library) => entriesOf(root, library))),
      programs: libraries.flatMap(({ folder, manifest }) =>
        Object.values(manifest.bin ?? {}).map((path) => join(root, 'packages', folder, path)),
      ),
    },
    compiledFiles,
  )
  const directories = libraries.map((library) => {
    const directory = begin(
      root,
      output,
      library,
      libraryManifest(library.manifest, common, `packages/${library.folder}`),
    )
    cpSync(join(compiledFiles, library.folder), join(directory, 'dist'), { recursive: true })
    for (const file of Object.values(library.manifest.bin ?? {})) {
      chmodSync(join(directory, 'dist', file.replace(/\.ts$/, '.js')), 0o755)
    }
    return directory
  })
  const command = packages.find(({ manifest }) => manifest.name === commandPackage)
  if (command === undefined) throw new Error(`no package of the workspace is ${commandPackage}`)
  return [...directories, await stageCommand(root, output, command, common, packages, bundle)]
}

/** The files behind each subpath of a library: `@coracle/api/testing`. */
const entriesOf = (root: string, { folder, manifest }: WorkspacePackage): readonly (readonly [string, string])[] =>
  Object.entries(manifest.exports ?? {}).map(([subpath, path]) => [
    `${manifest.name}${subpath.slice(1)}`,
    join(root, 'packages', folder, path),
  ])

async function stageCommand(
  root: string,
  output: string,
  { folder, manifest }: WorkspacePackage,
  common: CommonManifest,
  packages: readonly WorkspacePackage[],
  bundle: PublishedBundle,
): Promise<string> {
  const versions: Readonly<Record<string, string>> = Object.assign(
    {},
    ...packages.map((each) => each.manifest.dependencies),
  )
  const dependencies = Object.fromEntries(externalPackages.map((name) => [name, versions[name] ?? '*']))
  const pages = await manPages(common.version)
  const man = pages.map(({ name }) => `./man/${name}`)
  const directory = begin(
    root,
    output,
    { folder, manifest },
    commandManifest(manifest, common, { folder: `packages/${folder}`, dependencies, man }),
  )
  for (const file of bundle.files) cpSync(join(bundle.directory, file), join(directory, 'dist', file))
  writeFileSync(join(directory, 'THIRD-PARTY-LICENCES.txt'), licenceTexts(root, bundle.metafile))
  mkdirSync(join(directory, 'bin'))
  copyFileSync(join(root, 'scripts/release/coracle.js'), join(directory, 'bin/coracle.js'))
  chmodSync(join(directory, 'bin/coracle.js'), 0o755)
  mkdirSync(join(directory, 'man'))
  for (const { name, text } of pages) writeFileSync(join(directory, 'man', name), text)
  return directory
}

/** What every package begins with: manifest, licence, README and changelog. */
function begin(root: string, output: string, { folder }: WorkspacePackage, manifest: object): string {
  const directory = join(output, folder)
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  copyFileSync(join(root, 'LICENSE'), join(directory, 'LICENSE'))
  copyFileSync(join(root, 'packages', folder, 'README.md'), join(directory, 'README.md'))
  if (existsSync(join(root, 'CHANGELOG.md'))) copyFileSync(join(root, 'CHANGELOG.md'), join(directory, 'CHANGELOG.md'))
  return directory
}

const readJson = <T>(file: string): T => JSON.parse(readFileSync(file, 'utf8')) as T
