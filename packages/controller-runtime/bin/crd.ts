#!/usr/bin/env node
/** Prints the CustomResourceDefinitions of the kinds that modules export, as YAML: `crd src/website.ts | kubectl apply -f -`. */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { customKindsOf, customKindYaml } from '../src/custom-kind-yaml.ts'

const files = process.argv.slice(2)
const modules = await Promise.all(files.map((file) => import(pathToFileURL(resolve(file)).href)))
const kinds = modules.flatMap(customKindsOf)
if (kinds.length === 0) {
  const problem =
    files.length === 0 ? 'no module is named' : `${files.join(', ')}: no kind made with customKind is exported`
  process.stderr.write(`crd: ${problem}\nusage: crd FILE...\n`)
  process.exitCode = 1
}
process.stdout.write(customKindYaml(kinds))
