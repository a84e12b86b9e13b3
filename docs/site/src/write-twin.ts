import type { Page } from './pages.ts'

const FENCE_SETTINGS = /^```(?<language>\w+) .*$/gm
const PICTURE = /!\[(?<text>[^\]]*)\]\([^)]+\.svg\)/g

/**
 * Returns the page as Markdown for programs and agents. Leaves out the settings for tests in the first lines of code
 * blocks, and replaces each picture by its description.
 */
export function writeTwin({ title, markdown }: Page): string {
  const text = markdown.replaceAll(FENCE_SETTINGS, '```$<language>').replaceAll(PICTURE, '_In a picture: $<text>_')
  return `# ${title}\n\n${text}`
}
