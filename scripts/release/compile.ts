import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { transformSync } from 'esbuild'

/**
 * Compiles the entry points of packages and all that they reach, and nothing else, into JavaScript without comments, with declarations:
 * `packages/api/src/index.ts` becomes `OUTPUT/api/src/index.js` and `.d.ts`. `entries` has the files by what imports them,
 * `@coracle/api`; `programs` are run and never imported. Throws with what the compiler says.
 */
export function compile(
  root: string,
  { entries, programs }: { entries: ReadonlyMap<string, string>; programs: readonly string[] },
  output: string,
): void {
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    rewriteRelativeImportExtensions: true,
    rootDir: join(root, 'packages'),
    outDir: output,
    // Past node_modules, whose files the compiler does not write.
    paths: Object.fromEntries([...entries].map(([name, file]) => [name, [file]])),
    typeRoots: [join(root, 'node_modules/@types')],
  }
  const project = join(output, 'tsconfig.json')
  mkdirSync(output, { recursive: true })
  writeFileSync(
    project,
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions,
      files: [...entries.values(), ...programs],
      include: [],
    }),
  )
  try {
    execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '--singleThreaded', '-p', project], {
      encoding: 'utf8',
      // It ends before its garbage is worth collecting, and in parts it would check the same several times: two thirds of its CPU time.
      env: { ...process.env, GOGC: 'off' },
    })
  } catch (error) {
    throw new Error(`the packages do not compile:\n${(error as { stdout?: string }).stdout ?? error}`)
  } finally {
    rmSync(project)
  }
  for (const file of readdirSync(output, { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.d.ts')) rewriteDeclarations(join(output, file))
    else if (file.endsWith('.js')) dropComments(join(output, file))
  }
}

/** What is said of the code stands in the declarations, where editors look, and in the sources. */
function dropComments(file: string): void {
  writeFileSync(file, transformSync(readFileSync(file, 'utf8'), { target: 'esnext', charset: 'utf8' }).code)
}

/** The compiler rewrites the ends of imports in JavaScript alone: in declarations they still name sources. */
function rewriteDeclarations(file: string): void {
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replaceAll(/((?:\bfrom |\bimport\()["'])(\.{1,2}\/[^"']+)\.ts(["'])/g, '$1$2.js$3'))
}
