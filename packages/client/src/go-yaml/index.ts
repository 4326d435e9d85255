// YAML as Go programs read and write it: what the server takes and answers, and what the command line takes and prints.
export { asGoReads, GoYamlError } from './as-go-reads.ts'
export { withExactIntegers } from './go-numbers.ts'
export { goTags } from './go-tags.ts'
export { goYamlText } from './go-yaml.ts'
export { parseGoYaml } from './parse-go-yaml.ts'
