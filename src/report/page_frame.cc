#include "report/page_frame_internal.h"

#include "coden/base/printable.h"
#include "report/embedded_text_internal.h"

namespace coden {

namespace {

void AddEmbedded(Markup& page, std::string_view tag, const EmbeddedText& text) {
  page.Open(tag);
  for (const std::string_view piece : text.pieces) page.Raw(piece);
  page.Close().Line();
}

void AddFacts(Markup& page, const std::vector<NamedText>& facts) {
  page.Open("table", {{"class", "facts"}}).Open("tbody").Line();
  for (const auto& fact : facts) {
    page.Open("tr").Element("th", fact.name, {{"scope", "row"}});
    page.Element("td", MaskCredentials(fact.text)).Close().Line();
  }
  page.Close().Close().Line();
}

}  // namespace

void AddPageHead(Markup& page, std::string_view title) {
  page.Raw("<!DOCTYPE html>\n").Open("html", {{"lang", "en"}}).Line();
  page.Open("head").Void("meta", {{"charset", "utf-8"}}).Line();
  page.Void("meta", {{"name", "generator"}, {"content", "coden"}}).Line();
  page.Void("meta",
            {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  // Nothing is fetched, and no script runs but the two of the program, whatever a value
  // may hold.
  const std::string policy = "default-src 'none'; script-src '" +
                             std::string(kUplotScript.hash) + "' '" +
                             std::string(kReportScript.hash) +
                             "'; style-src 'unsafe-inline'; img-src data: blob:; "
                             "base-uri 'none'; form-action 'none'";
  // Written as it is: an entity for the quotes would be right too, but hard to read.
  page.Line().Raw("<meta http-equiv=\"Content-Security-Policy\" content=\"" + policy +
                  "\">\n");
  page.Element("title", MaskCredentials(title)).Line();
  AddEmbedded(page, "style", kUplotStyle);
  AddEmbedded(page, "style", kReportStyle);
  page.Close().Line().Open("body").Line();
  page.Open("noscript").Open("p", {{"class", "muted"}});
  page.Text(
      "Charts are drawn by a script, which is off; the numbers of each are in the table "
      "below its heading.");
  page.Close().Close().Line();
}

bool IsOwnPage(std::string_view html) {
  return html.find("<meta name=\"generator\" content=\"coden\">") != html.npos;
}

std::string FinishPage(Markup& page) {
  page.Element("div", "",
               {{"id", "announcer"}, {"class", "unseen"}, {"aria-live", "polite"}});
  page.Line();
  AddEmbedded(page, "script", kUplotScript);
  AddEmbedded(page, "script", kReportScript);
  return page.Finish() + "\n";
}

void AddFactsSection(Markup& page, std::string_view heading,
                     const std::vector<NamedText>& facts) {
  if (facts.empty()) return;
  page.Open("section").Element("h2", heading).Line();
  AddFacts(page, facts);
  page.Close().Line();
}

void AddSettingsSection(Markup& page, const std::vector<IniSection>& settings) {
  if (settings.empty()) return;
  page.Open("section").Element("h2", "Settings").Line();
  page.Open("div", {{"class", "settings"}}).Line();
  for (const auto& section : settings) {
    page.Open("section").Element("h3", section.name);
    std::vector<NamedText> facts;
    facts.reserve(section.settings.size());
    for (const auto& setting : section.settings)
      facts.push_back({setting.name, setting.text});
    AddFacts(page, facts);
    page.Close();
  }
  page.Close().Close().Line();
}

void AddNotesSection(Markup& page, const std::vector<std::string>& notes) {
  if (notes.empty()) return;
  page.Open("section").Element("h2", "Notes").Open("ul", {{"class", "notes"}}).Line();
  for (const auto& note : notes) page.Element("li", MaskCredentials(note)).Line();
  page.Close().Close().Line();
}

}  // namespace coden
