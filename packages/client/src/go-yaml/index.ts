// YAML as Go programs write it: what the server answers, and what the command line prints.
export { withExactIntegers, withGoNumbers } from './go-numbers.ts'
export { goYamlText } from './go-yaml.ts'
