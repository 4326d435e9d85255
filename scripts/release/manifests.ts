/** What `package.json` says in the repository, and what it says in a package that is published. */

export interface WorkspaceManifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly exports?: Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly publishConfig?: {
    /**
     * What some of its users need beside it, such as for a subpath that others do not import. In the workspace itself it would be
     * installed with what is needed to run.
     */
    readonly peerDependencies?: Readonly<Record<string, string>>
  }
  readonly keywords?: readonly string[]
}

/** What the packages have in common, from the manifest of the workspace. */
export interface CommonManifest {
  readonly version: string
  readonly license: string
  readonly keywords: readonly string[]
  readonly repository?: { readonly type: string; readonly url: string }
}

/** The oldest Node that runs what is published. */
export const nodeRange = '>=24'

/** The name of the package with the `coracle` command; the others are libraries. */
export const commandPackage = '@coracle/cli'

/** A file of the sources, `./src/index.ts`, as the published package has it: `./dist/src/index.js`. */
export const compiled = (path: string): string => path.replace(/^\.\//, './dist/').replace(/\.ts$/, '.js')

/** The manifest of a library as it is published: JavaScript with its types beside it, each subpath of the sources. */
export function libraryManifest(
  manifest: WorkspaceManifest,
  common: CommonManifest,
  folder: string,
): Readonly<Record<string, unknown>> {
  const { exports = {}, bin, dependencies = {}, publishConfig } = manifest
  // The types of Buffer and of Node's modules are in those of the packages.
  const peerDependencies = { '@types/node': nodeRange, ...publishConfig?.peerDependencies }
  return {
    ...head(manifest, common, folder),
    sideEffects: false,
    exports: {
      ...Object.fromEntries(
        Object.entries(exports).map(([subpath, source]) => [
          subpath,
          { types: compiled(source).replace(/\.js$/, '.d.ts'), default: compiled(source) },
        ]),
      ),
      './package.json': './package.json',
    },
    ...(bin === undefined ? {} : { bin: mapValues(bin, compiled) }),
    files: ['dist', 'CHANGELOG.md'],
    dependencies,
    peerDependencies,
    peerDependenciesMeta: Object.fromEntries(Object.keys(peerDependencies).map((name) => [name, { optional: true }])),
  }
}

/** The manifest of the command as it is published: a bundle, which only leaves the native addon to be installed. */
export function commandManifest(
  manifest: WorkspaceManifest,
  common: CommonManifest,
  {
    folder,
    dependencies,
    man,
  }: { folder: string; dependencies: Readonly<Record<string, string>>; man: readonly string[] },
): Readonly<Record<string, unknown>> {
  return {
    ...head(manifest, common, folder),
    bin: { coracle: './bin/coracle.js' },
    man,
    files: ['bin', 'dist', 'man', 'CHANGELOG.md', 'THIRD-PARTY-LICENCES.txt'],
    dependencies,
  }
}

function head({ name, description, keywords = [] }: WorkspaceManifest, common: CommonManifest, folder: string) {
  const { version, license, repository } = common
  return {
    name,
    version,
    description,
    keywords: [...common.keywords, ...keywords],
    license,
    ...(repository === undefined ? {} : { repository: { ...repository, directory: folder } }),
    type: 'module',
    engines: { node: nodeRange },
    publishConfig: { access: 'public' },
  }
}

function mapValues(record: Readonly<Record<string, string>>, change: (value: string) => string) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))
}
