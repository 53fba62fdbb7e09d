#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coden/report/html_page.h"
#include "report/markup_internal.h"

namespace coden {

/// Start a page: head with its policy and style, and the body, which stays open.
void AddPageHead(Markup& page, std::string_view title);

/// Whether a page is one that this program has written.
bool IsOwnPage(std::string_view html);

/// End a page: the scripts that draw its charts, and everything that is open.
std::string FinishPage(Markup& page);

/// A section with a table of facts; nothing without any.
void AddFactsSection(Markup& page, std::string_view heading,
                     const std::vector<NamedText>& facts);

void AddSettingsSection(Markup& page, const std::vector<IniSection>& settings);

void AddNotesSection(Markup& page, const std::vector<std::string>& notes);

}  // namespace coden
