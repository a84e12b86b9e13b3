// The search of the documentation. It loads its index when somebody begins to search, and finds in the browser.
import MiniSearch from 'minisearch'

const RESULTS_MAX = 8
const EXCERPT_CHARACTERS = 120

const form = document.querySelector('.search')
const input = form.querySelector('input')
const list = form.querySelector('.results')
const count = form.querySelector('.count')
let loading = null

form.hidden = false

form.addEventListener('submit', (event) => event.preventDefault())
input.addEventListener('focus', () => void load())
input.addEventListener('input', () => void search())
form.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return
  input.value = ''
  void search()
  input.focus()
})
document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLInputElement
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  input.focus()
})

function load() {
  loading ??= loadIndex().catch(() => {
    loading = null
    count.textContent = 'The search could not be loaded. Try again.'
    return null
  })
  return loading
}

async function loadIndex() {
  const response = await fetch(form.dataset.index)
  if (!response.ok) throw new Error(`status ${response.status}`)
  const index = new MiniSearch({
    fields: ['page', 'heading', 'text'],
    storeFields: ['path', 'page', 'heading', 'text'],
    searchOptions: { boost: { heading: 4, page: 3 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
  })
  index.addAll(await response.json())
  return index
}

async function search() {
  const query = input.value.trim()
  const index = query === '' ? null : await load()
  // The person may have typed more while the index was loading.
  if (query !== input.value.trim()) return
  const results = index === null ? [] : index.search(query).slice(0, RESULTS_MAX)
  list.replaceChildren(...results.map(showResult))
  list.hidden = results.length === 0
  if (query === '') count.textContent = ''
  else if (index !== null) count.textContent = results.length === 0 ? 'Nothing was found.' : ''
}

function showResult({ path, page, heading, text, terms }) {
  const link = document.createElement('a')
  link.href = form.dataset.base + path
  const title = document.createElement('b')
  title.textContent = heading === '' ? page : `${page}: ${heading}`
  const excerpt = document.createElement('span')
  const found = Math.max(0, text.toLowerCase().indexOf(terms[0] ?? '') - EXCERPT_CHARACTERS / 3)
  // The excerpt begins with a whole word.
  const start = found === 0 ? 0 : text.indexOf(' ', found) + 1
  excerpt.textContent = text.slice(start, start + EXCERPT_CHARACTERS)
  link.append(title, excerpt)
  const item = document.createElement('li')
  item.append(link)
  return item
}
